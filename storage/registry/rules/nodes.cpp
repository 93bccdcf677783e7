// What API nodes write into the log: heartbeats, claims, and how far the outbox is published (design.md §1,
// §2).
#include "storage/registry/tables/nodes.hpp"
#include <algorithm>

#include "schemas/commands/limits.hpp"
#include "storage/registry/emission/emission.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/tables/installation.hpp"
#include "storage/registry/tables/outbox.hpp"

namespace herald::storage::registry::rules {
namespace {

constexpr std::size_t looked_at_per_timer = 300;
constexpr std::int64_t trim_interval_ms = 24ll * 3'600'000;

void take_published(rule_context& context, const schemas::commands::node_heartbeat& heartbeat) {
    const auto claim = tables::claims::find(context.state, schemas::job_name(schemas::job::publisher));
    if (!claim || claim->token != heartbeat.publisher_token) return;
    for (const schemas::published_position& position : heartbeat.published)
        tables::outbox::put_published(context.state, {position.topic, position.partition}, position.sequence);
}

bool is_silent(const rule_context& context, const std::optional<schemas::node_row>& node) {
    return !node || context.time_ms() - node->last_heartbeat_ms > limits::claim_lapse_ms;
}

/// Of two processes, one that stands for both: it knows what both knew, and stops when the later one does.
schemas::replaced_process either(const schemas::replaced_process& earlier,
                                 const schemas::replaced_process& later) {
    return {later.boot, std::min(earlier.applied_offset, later.applied_offset),
            std::max(earlier.serves_until_ms, later.serves_until_ms)};
}

bool may_serve_on(const rule_context& context, const schemas::replaced_process& process) {
    return process.serves_until_ms > context.time_ms();
}

/// Adds the process that spoke last, if `command` is another one's, and drops the speaker and all whose time
/// is over. Beyond limits::replaced_processes_max the two oldest become one, so that none is forgotten.
void keep_replaced(rule_context& context, const schemas::node_row& before,
                   const schemas::commands::node_heartbeat& command) {
    const auto stored = tables::replaced_processes::find(context.state, command.node);
    auto after = stored.value_or(schemas::replaced_processes_row{command.node, {}});
    const bool has_left = before.boot == schemas::uuid{};  // or there was none
    if (before.boot != command.boot && !has_left && before.serves_predictions)
        after.processes.push_back(
            {before.boot, before.applied_offset, before.last_heartbeat_ms + before.isolation_grace_ms});
    std::erase_if(after.processes, [&](const schemas::replaced_process& each) {
        return each.boot == command.boot || !may_serve_on(context, each);
    });
    if (after.processes.size() > limits::replaced_processes_max) {
        after.processes[1] = either(after.processes[0], after.processes[1]);
        after.processes.erase(after.processes.begin());
    }
    if (!after.processes.empty())
        tables::replaced_processes::put(context.state, after);
    else if (stored)
        tables::replaced_processes::erase(context.state, *stored);
}

/// A claim may be taken when its holder has restarted, or has been silent for too long while the taker has
/// not: when log time leaps, all nodes are silent, and none may take from another what it would lose the same
/// way.
bool is_free(const rule_context& context, const schemas::claim_row& held,
             const schemas::commands::claim& wanted) {
    if (held.node == wanted.node && held.boot != wanted.boot) return true;
    const auto holder = tables::nodes::find(context.state, held.node);
    if (!holder || holder->boot != held.boot) return true;
    return is_silent(context, holder) && !is_silent(context, tables::nodes::find(context.state, wanted.node));
}

void forget(rule_context& context, const schemas::node_row& node) {
    tables::nodes::erase(context.state, node);
    if (const auto replaced = tables::replaced_processes::find(context.state, node.node))
        tables::replaced_processes::erase(context.state, *replaced);
}

}  // namespace

answer apply(rule_context&, const schemas::commands::no_operation&) { return std::string(); }

/// Errors: invalid_argument for runtimes beyond their bounds and for positions in something that is not an
/// event partition; aborted when a later boot of the same node has spoken: the older process must exit;
/// failed_precondition for a first heartbeat from a process that had not applied the newest boot's
/// heartbeats: a dead process's record that surfaces late must not stop the living one, and a living process
/// will have applied more when it speaks again.
answer apply(rule_context& context, const schemas::commands::node_heartbeat& command) {
    if (command.runtimes.size() > limits::runtimes_max ||
        std::ranges::any_of(command.runtimes, [](const std::string& name) {
            return name.empty() || name.size() > limits::runtime_name_bytes_max;
        }))
        return runtime::invalid_argument({"a node names at most ", limits::runtimes_max, " runtimes of 1 to ",
                                          limits::runtime_name_bytes_max, " bytes"});
    if (!std::ranges::all_of(command.published, [&](const schemas::published_position& position) {
            return emission::is_event_partition(context, position.topic, position.partition);
        }))
        return runtime::invalid_argument("a node publishes to the partitions of events only");
    auto row = tables::nodes::find(context.state, command.node).value_or(schemas::node_row{});
    if (row.boot != command.boot) {
        if (!command.first && !row.node.empty())
            return runtime::aborted(
                {"another process runs as node \"", command.node, "\": this one is the older"});
        if (!row.node.empty() && command.applied_offset < row.boot_offset)
            return runtime::failed_precondition(
                {"another process of node \"", command.node, "\" began after this heartbeat was sent"});
        row.boot_offset = context.offset();
    }
    keep_replaced(context, row, command);
    if (row.node.empty())
        context.set_timer(context.time_ms() + limits::node_row_kept_ms, timer_kind::node_silence,
                          command.node);
    row.node = command.node;
    row.boot = command.last ? schemas::uuid{} : command.boot;  // owned by nobody
    row.last_heartbeat_ms = context.time_ms();
    row.applied_offset = command.applied_offset;
    row.level = command.newest_level;
    row.isolation_grace_ms = command.isolation_grace_ms;
    row.runtimes = command.runtimes;
    row.serves_predictions = command.serves_predictions;
    tables::nodes::put(context.state, row);
    take_published(context, command);
    return std::string();
}

/// Returns who holds the job now; nothing to who lets it go, whether it held it or not. Errors: aborted for a
/// process whose node has restarted since.
answer apply(rule_context& context, const schemas::commands::claim& command) {
    const auto claimant = tables::nodes::find(context.state, command.node);
    if (claimant && claimant->boot != command.boot)
        return runtime::aborted({"another process runs as node \"", command.node, "\""});
    auto held = tables::claims::find(context.state, command.job);
    if (command.lets_go) {
        if (held && held->node == command.node && held->boot == command.boot)
            tables::claims::erase(context.state, *held);
        return std::string();
    }
    if (!held || is_free(context, *held, command)) {
        held = schemas::claim_row{command.job, command.node, command.boot, context.offset()};
        tables::claims::put(context.state, *held);
    }
    return schemas::encode(*held);
}

/// Errors: failed_precondition, naming them, while nodes heard in the last limits::claim_lapse_ms advertise
/// less: a raise never stops a running node. Asking for the present level or a lower one succeeds and changes
/// nothing, so a request can be repeated.
answer apply(rule_context& context, const schemas::commands::raise_level& command) {
    if (command.to <= context.level()) return std::string();
    std::string older;
    tables::nodes::each(context.state, [&](const schemas::node_row& node) {
        const bool has_left = node.boot == schemas::uuid{};
        if (!has_left && !is_silent(context, node) && node.level < command.to)
            older += (older.empty() ? "" : ", ") + node.node + " (level " + std::to_string(node.level) + ")";
        return true;
    });
    if (!older.empty())
        return runtime::failed_precondition(
            {"the level cannot be raised to ", command.to, ": older nodes are running: ", older});
    tables::put_level(context.state, command.to);
    return std::string();
}

/// Forgets a node that has been silent for limits::node_row_kept_ms: no process of it serves for so long.
void fire_node_silence(rule_context& context, std::string_view node) {
    const auto row = tables::nodes::find(context.state, std::string(node));
    if (!row) return;
    const std::int64_t due_ms = row->last_heartbeat_ms + limits::node_row_kept_ms;
    if (due_ms > context.time_ms())
        context.set_timer(due_ms, timer_kind::node_silence, node);
    else
        forget(context, *row);
}

/// Drops outbox rows that are published and older than limits::outbox_kept_ms; once a day, a few hundred at a
/// time. `after` is where the day's previous firing stopped; rows that are not published do not block it.
void fire_outbox_trim(rule_context& context, std::string_view after) {
    const auto more = tables::outbox::trim(context.state, context.time_ms() - limits::outbox_kept_ms, after,
                                           looked_at_per_timer);
    if (more)
        context.set_timer(context.time_ms(), timer_kind::outbox_trim, *more);
    else
        context.set_timer(context.time_ms() + trim_interval_ms, timer_kind::outbox_trim, "");
}

runner runner_of(schemas::commands::command_type type, schemas::commands::level_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

runner runner_of(schemas::commands::command_type type, schemas::commands::node_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
