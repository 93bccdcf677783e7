#include "storage/registry/audit/audit.hpp"

#include <algorithm>

#include "schemas/audit.hpp"
#include "schemas/commands/all.hpp"
#include "schemas/number_fields.hpp"
#include "storage/registry/audit/limits.hpp"
#include "storage/registry/tables/audit.hpp"
#include "storage/registry/tables/installation.hpp"

namespace herald::storage::registry::audit {
namespace {

using context::rule_context;
using context::timer_kind;
using schemas::audit_head;
using schemas::audit_row;
using tables::audit_rows;

constexpr std::size_t rows_per_sweep = 300;
constexpr std::int64_t between_sweeps_ms = 24ll * 3'600'000;

void append(rule_context& context, audit_row row) {
    audit_head head = audit_rows::head(context.state);
    if (head.last + 1 == head.first)  // no row waits for a sweep
        context.set_timer(context.time_ms() + limits::audit_kept_ms, timer_kind::audit_sweep, "");
    row.sequence = ++head.last;
    row.generation = context.generation();
    row.offset = context.offset();
    row.time = context.time_ms();
    row.hash.bytes = schemas::hash_of(head.hash.bytes, row);
    head.hash = row.hash;
    audit_rows::put(context.state, row);
    audit_rows::put_head(context.state, head);
}

/// The rows that come bring the audit of the parent, which no row of this log may come between: the first is
/// that of the command that ended the restore. Users are refused until then.
bool is_restoring(const rule_context& context) {
    const auto progress = tables::restoring::find(context.state);
    return progress && !progress->is_done;
}

bool is_of_user(const rule_context& context) {
    return schemas::commands::find_command(context.command().type)->traits.from ==
           schemas::commands::sender::user;
}

void take_names(const rule_context& context, audit_row& row, subject about) {
    row.workspace_id = about.workspace;
    row.resource_name = std::move(about.name);
    row.workspace_name = std::move(about.workspace_name);
    if (about.workspace && row.workspace_name.empty())
        row.workspace_name = name_of(context.state, "workspace", std::to_string(about.workspace.value));
}

/// Visible ASCII, as an address is.
std::string address_of(std::string_view text) {
    std::string out(text.substr(0, limits::audit_word_bytes_max));
    for (char& c : out)
        if (c < 0x21 || c > 0x7e) c = '?';
    return out;
}

}  // namespace

bool is_audited(const rule_context& context) {
    const auto type = context.command().type;
    if (type == schemas::commands::genesis::type || type == schemas::commands::restore_rows::type)
        return false;
    const auto* command = schemas::commands::find_command(context.command().type);
    return command && command->traits.from != schemas::commands::sender::node;
}

void add(rule_context& context, subject about, const schemas::commands::outcome& outcome) {
    if (!is_of_user(context) && is_restoring(context)) return;
    if (about.is_in_answer && outcome.code == 0)
        if (const auto made = schemas::find_number(outcome.body, 1)) {
            about.id = std::to_string(*made);
            if (!about.workspace) about.workspace = workspace_of(context.state, about.kind, *made);
        }
    if (outcome.code == 0 && (about.name.empty() || about.is_in_answer))
        if (std::string made = name_of(context.state, about.kind, about.id); !made.empty())
            about.name = std::move(made);
    audit_row row;
    row.action = schemas::commands::find_command(context.command().type)->name;
    if (!about.direction.empty()) row.action += " " + about.direction;
    row.action.resize(std::min(row.action.size(), limits::audit_action_bytes_max));
    row.resource_type = std::move(about.type);
    row.resource_id = std::move(about.id);
    take_names(context, row, std::move(about));
    row.user_id = context.principal();
    row.user_name = name_of(context.state, "user", std::to_string(row.user_id.value));
    row.address = address_of(context.command().request.address);
    row.code = outcome.code;
    append(context, std::move(row));
}

void add_by_itself(rule_context& context, std::string_view action, const subject& about) {
    if (is_restoring(context)) return;
    audit_row row;
    row.action = action;
    row.resource_type = about.type;
    row.resource_id = about.id;
    take_names(context, row, about);
    append(context, std::move(row));
}

void sweep(rule_context& context) {
    audit_head head = audit_rows::head(context.state);
    const std::int64_t oldest_ms = context.time_ms() - limits::audit_kept_ms;
    std::vector<audit_row> old;
    std::optional<std::int64_t> next_ms;
    audit_rows::each(context.state, head.first, [&](const audit_row& row) {
        if (row.time > oldest_ms || old.size() == rows_per_sweep) {
            next_ms = row.time;
            return false;
        }
        old.push_back(row);
        return true;
    });
    for (const audit_row& row : old) {
        audit_rows::erase(context.state, row.sequence);
        head.first = row.sequence + 1;
        head.before = row.hash;
    }
    if (!old.empty()) audit_rows::put_head(context.state, head);
    if (!next_ms) return;  // the next row sets the timer anew
    const std::int64_t due_ms = *next_ms + limits::audit_kept_ms;
    context.set_timer(old.size() == rows_per_sweep ? context.time_ms()
                                                   : std::max(due_ms, context.time_ms() + between_sweeps_ms),
                      timer_kind::audit_sweep, "");
}

}  // namespace herald::storage::registry::audit
