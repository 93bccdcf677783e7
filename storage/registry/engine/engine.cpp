#include "storage/registry/engine/engine.hpp"

#include <algorithm>

#include "runtime/assert.hpp"
#include "schemas/commands/all.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/engine/limits.hpp"
#include "storage/registry/outcomes/outcomes.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/tables/installation.hpp"

namespace herald::storage::registry::engine {
namespace {

using context::rule_context;
using context::timer_kind;
using schemas::commands::command_envelope;
using schemas::commands::command_type;
using state::remembering_view;
using state::row_changes;
using state::state_changes;
using tables::level_in_force;
using tables::timer;
using tables::timers;

/// nullptr for a type that this program does not know.
template <class... Lists>
rules::runner find_runner(command_type type, schemas::commands::command_lists<Lists...>) {
    rules::runner found = nullptr;
    ((found = rules::runner_of(type, Lists{})) || ...);
    return found;
}
rules::runner runner_of(command_type type) { return find_runner(type, schemas::commands::all_lists{}); }

schemas::commands::outcome refused(error why) {
    schemas::commands::outcome outcome;
    outcome.code = static_cast<std::uint32_t>(why.code);
    outcome.message = std::move(why.message);
    return outcome;
}

void fire(rule_context& context, timer_kind kind, std::string_view key) {
    switch (kind) {
        case timer_kind::outcome_sweep:
            return outcomes::sweep_outcomes(context, key);
        case timer_kind::scan_deadline:
            return rules::fire_scan_deadline(context, key);
        case timer_kind::outbox_trim:
            return rules::fire_outbox_trim(context, key);
        case timer_kind::webhook_change_trim:
            return rules::fire_webhook_change_trim(context, key);
        case timer_kind::webhook_disable:
            return rules::fire_webhook_disable(context, key);
        case timer_kind::node_silence:
            return rules::fire_node_silence(context, key);
    }
    throw state::state_corrupt{"a timer of an unknown kind"};
}

void append_length_and_bytes(std::string& out, std::string_view bytes) {
    schemas::append_varint(out, bytes.size());
    out += bytes;
}

}  // namespace

std::int64_t log_time_ms(std::int64_t previous_ms, std::int64_t record_ms, std::int64_t sender_ms) noexcept {
    const std::int64_t sender_at_most_ms =
        std::min(sender_ms, limits::log_time_ms_max) + limits::sender_clock_ahead_ms_max;
    return std::max(previous_ms, std::min({record_ms, sender_at_most_ms, limits::log_time_ms_max}));
}

engine::engine(state::state_store& store) : x_store(store) {
    start_batch();
    if (auto position = tables::positions::find(*x_batch)) x_position = *std::move(position);
    x_installation = tables::installation::find(*x_batch);
    x_level = level_in_force(*x_batch);
}

void engine::start_batch() {
    x_batch.reset();
    x_base = std::make_shared<remembering_view>(x_store.view());
    x_batch = std::make_unique<state_changes>(x_base.get());
}

opened_record open_record(const events::log::record& record) {
    if (!record.value)
        return {&record, runtime::sha256({}), runtime::invalid_argument("a tombstone is not a command")};
    return {&record, runtime::sha256(*record.value), schemas::commands::open_envelope(*record.value)};
}

result<applied_record> engine::apply(const opened_record& opened) {
    const events::log::record& record = *opened.record;
    const result<command_envelope>& command = opened.command;
    if (const auto able = check_level(); !able) return able.error();
    const auto offset = static_cast<std::uint64_t>(record.offset);
    if (offset < x_position.next_offset)
        return runtime::failed_precondition("record " + std::to_string(offset) + " was applied before");
    applied_record done;
    done.offset = offset;
    state_changes changes(&*x_batch);
    if (!x_installation && (!command || command->type != schemas::commands::genesis::type))
        return runtime::failed_precondition("the log does not begin with GENESIS: it is not a Herald log");
    const bool ours = command && (!x_installation || (command->log_id == x_installation->log_id &&
                                                      command->generation == x_installation->generation));
    if (ours) {
        // A command above the level in force is refused whether it is known or not: every version does the
        // same with it.
        if (command->level <= x_level && !runner_of(command->type))
            return runtime::failed_precondition(
                "record " + std::to_string(offset) + " is a command of type " +
                std::to_string(static_cast<unsigned>(command->type)) + ", level " +
                std::to_string(command->level) + ", which this version does not know: install a newer one");
        x_position.time_ms = log_time_ms(x_position.time_ms, record.time_ms, command->sender_clock_ms);
        fire_due_timers(changes, offset);
        done.command_id = command->command_id;
        done.type = command->type;
        done.outcome = run(changes, *command, offset);
        if (command->type == schemas::commands::node_heartbeat::type && done.outcome.code == 0)
            done.heartbeat = command->body;
    } else {
        done.outcome =
            refused(command ? runtime::invalid_argument("a command of another log") : command.error());
    }
    finish(opened, changes.take());
    if (!x_installation) x_installation = tables::installation::find(*x_batch);
    return done;
}

result<void> engine::check_level() const {
    if (x_level <= schemas::commands::newest_level) return {};
    return runtime::failed_precondition(
        "the log is at level " + std::to_string(x_level) + " and this program goes up to level " +
        std::to_string(schemas::commands::newest_level) + ": install a newer one");
}

void engine::fire_due_timers(state_changes& changes, std::uint64_t offset) {
    if (!x_installation || x_position.time_ms < x_next_timer_ms) return;
    x_next_timer_ms = INT64_MAX;
    const rule_context::place here{offset,
                                   x_position.time_ms,
                                   x_installation->log_id,
                                   x_installation->generation,
                                   x_installation->event_partitions,
                                   x_level};
    static const command_envelope nobody;
    std::vector<timer> due;
    timers::each(changes, [&](const timer& next) {
        if (next.due_ms > x_position.time_ms || due.size() == limits::timers_per_apply_max) {
            x_next_timer_ms = next.due_ms;
            return false;
        }
        due.push_back(next);
        return true;
    });
    for (const timer& one : due) {
        timers::erase(changes, one);
        rule_context context(changes, here, nobody);
        fire(context, one.kind, one.key);
    }
}

schemas::commands::outcome engine::run(state_changes& changes, const command_envelope& command,
                                       std::uint64_t offset) {
    if (x_position.time_ms > command.not_after_ms)
        return refused(
            runtime::unavailable("the command reached the log too late and took no effect; send it again"));
    if (command.level > x_level)
        return refused(runtime::failed_precondition("the command is of level " +
                                                    std::to_string(command.level) +
                                                    "; the level in force is " + std::to_string(x_level)));
    // The key that was accepted on arrival must still be one of the user's at the command's place in the log
    // (revocation). Not stored: a repeat with a valid key must be heard.
    if (schemas::commands::find_command(command.type)->traits.from == schemas::commands::sender::user &&
        !access::is_key_of(changes, command.request.principal, command.request.credential_hash))
        return refused(runtime::unauthenticated("this developer key is no longer valid"));
    if (auto kept = outcomes::find_outcome(changes, command.request)) return *std::move(kept);
    if (!outcomes::has_room_for_outcome(changes, command.request))
        return refused(
            runtime::resource_exhausted("too many requests with an Idempotency-Key in 24 h; try later"));

    rule_context::place here{offset, x_position.time_ms, command.log_id, command.generation, 0, x_level};
    if (x_installation) here.event_partitions = x_installation->event_partitions;
    state_changes own(&changes);
    rule_context context(own, here, command);
    rules::answer answer = runner_of(command.type)(context, command.body);
    if (answer && own.changes().size() > limits::mutations_per_command_max)
        answer = runtime::invalid_argument("this request would change more than " +
                                           std::to_string(limits::mutations_per_command_max) +
                                           " rows at once; split it");
    schemas::commands::outcome outcome;
    if (answer) {
        changes.absorb(own.take());
        outcome.body = *std::move(answer);
    } else {
        outcome = refused(answer.error());
    }
    outcome.command_id = command.command_id;
    outcome.offset = offset;
    outcome.key_name = std::move(context.minted_with);
    rule_context keeper(changes, here, command);
    return outcomes::keep_outcome(keeper, std::move(outcome));
}

void engine::finish(const opened_record& opened, row_changes mutations) {
    const events::log::record& record = *opened.record;
    x_position.last_record_hash = runtime::as_bytes(opened.hash);
    x_position.last_record_offset = static_cast<std::uint64_t>(record.offset);
    std::string hashed = x_position.hash;
    hashed.reserve(1'000);  // enough for most
    hashed += x_position.last_record_hash;
    schemas::append_big_endian(hashed, static_cast<std::uint64_t>(record.offset));
    schemas::append_big_endian(hashed, static_cast<std::uint64_t>(x_position.time_ms));
    for (const auto& [key, row] : mutations) {
        append_length_and_bytes(hashed, key);
        hashed += row ? '+' : '-';
        if (row) append_length_and_bytes(hashed, *row);
    }
    x_position.hash = runtime::as_bytes(runtime::sha256(hashed));
    x_position.next_offset = static_cast<std::uint64_t>(record.offset) + 1;
    x_position.log_bytes += record.key.size() + (record.value ? record.value->size() : 0);
    if (const auto due_ms = timers::first_due_ms(mutations))
        x_next_timer_ms = std::min(x_next_timer_ms, *due_ms);
    const bool is_raised = tables::is_level_changed(mutations);
    x_batch->absorb(std::move(mutations));
    if (is_raised) x_level = level_in_force(*x_batch);
}

void engine::begin_write() {
    HERALD_ASSERT(!is_writing() && x_store.is_written_beside());
    tables::positions::put(*x_batch, x_position);
    x_writing = std::move(x_batch);
    x_batch = std::make_unique<state_changes>(x_writing.get());
    x_written = std::async(std::launch::async | std::launch::deferred,
                           [this, changes = &x_writing->changes()] { return x_store.write(*changes); });
}

result<void> engine::finish_write() {
    if (!is_writing()) return {};
    const result<void> written = x_written.valid() ? x_written.get() : x_store.write(x_writing->changes());
    if (!written) return written;
    x_base = std::make_shared<remembering_view>(x_store.view());
    x_batch->rebase(x_base.get());
    x_writing.reset();
    return {};
}

result<void> engine::write() {
    if (auto written = finish_write(); !written) return written;
    tables::positions::put(*x_batch, x_position);
    const row_changes& changes = x_batch->changes();
    x_base.reset();  // the batch reads nothing more, and a memory store need not copy its rows
    if (const auto written = x_store.write(changes); !written) {
        x_base = std::make_shared<remembering_view>(x_store.view());
        x_batch->rebase(x_base.get());
        return written.error();
    }
    start_batch();
    return {};
}

}  // namespace herald::storage::registry::engine
