#include "storage/registry/engine/engine.hpp"

#include <algorithm>

#include "runtime/assert.hpp"
#include "schemas/commands/all.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/audit/audit.hpp"
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
        case timer_kind::webhook_expiry:
            return rules::fire_webhook_expiry(context, key);
        case timer_kind::webhook_secret_end:
            return rules::fire_webhook_secret_end(context, key);
        case timer_kind::webhook_disable_soon:
            return rules::fire_webhook_disable_soon(context, key);
        case timer_kind::webhook_disable:
            return rules::fire_webhook_disable(context, key);
        case timer_kind::node_silence:
            return rules::fire_node_silence(context, key);
        case timer_kind::audit_sweep:
            return audit::sweep(context);
        case timer_kind::replay_forget:
            return rules::fire_replay_forget(context, key);
        case timer_kind::external_event_forget:
            return rules::fire_external_event_forget(context, key);
        case timer_kind::artifact_sweep:
            return rules::fire_artifact_sweep(context, key);
        case timer_kind::blob_drop:
            return rules::fire_blob_drop(context, key);
        case timer_kind::multipart_expiry:
            return rules::fire_multipart_expiry(context, key);
        case timer_kind::removal:
            return rules::fire_removal(context);
        case timer_kind::promotion_deadline:
            return rules::fire_promotion_deadline(context, key);
        case timer_kind::membership_sweep:
            return rules::fire_membership_sweep(context, key);
        case timer_kind::workspace_sweep:
            return rules::fire_workspace_sweep(context, key);
        case timer_kind::session_end:
            return rules::fire_session_end(context, key);
        case timer_kind::access_token_end:
            return rules::fire_access_token_end(context, key);
        case timer_kind::endpoint_stage_sweep:
            return rules::fire_endpoint_stage_sweep(context, key);
        case timer_kind::endpoint_update_step:
            return rules::fire_endpoint_update_step(context, key);
        case timer_kind::build_deadline:
            return rules::fire_build_deadline(context, key);
        case timer_kind::deployed_build_sweep:
            return rules::fire_deployed_build_sweep(context, key);
    }
    throw state::state_corrupt{"a timer of an unknown kind"};
}

rule_context::place place_in(const schemas::commands::genesis& log, const tables::engine_position& position,
                             std::uint32_t level, std::uint64_t offset) {
    return {offset, position.time_ms, log.log_id, log.generation, log.event_partitions, level};
}

/// 0 for a log without a parent, and for anything but GENESIS.
std::int64_t parent_time_ms(const command_envelope& command) {
    const auto beginning = schemas::decode<schemas::commands::genesis>(command.body);
    return beginning ? std::clamp<std::int64_t>(beginning->parent_time_ms, 0, limits::log_time_ms_max) : 0;
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

engine::engine(state::state_store& store, std::vector<skipped_record> skips)
    : x_store(store), x_skips(std::move(skips)) {
    start_batch();
    if (auto position = tables::positions::find(*x_batch)) x_position = *std::move(position);
    x_installation = tables::installation::find(*x_batch);
    x_level = level_in_force(*x_batch);
    look_at_restoring();
}

void engine::look_at_restoring() {
    const auto progress = tables::restoring::find(*x_batch);
    x_is_restoring = progress && !progress->is_done;
    if (!x_is_restoring) x_next_timer_ms = 0;  // timers may have come
}

void engine::start_batch() {
    x_batch.reset();
    x_unwritten_bytes = 0;
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
        return runtime::failed_precondition({"record ", offset, " was applied before"});
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
        const bool is_unknown = command->level <= x_level && !runner_of(command->type);
        if (is_unknown && is_skipped(opened)) {
            done.outcome = refused(runtime::failed_precondition("the operators have this record skipped"));
            done.command_id = command->command_id;
            finish(opened, {}, effect::skipped);
            return done;
        }
        if (is_unknown)
            return runtime::failed_precondition(
                {"record ", offset, " is a command of type ", static_cast<unsigned>(command->type),
                 ", level ", command->level,
                 ", which this version does not know: install a newer one (or, as the last resort, start "
                 "every "
                 "node with --skip ",
                 offset, ":", runtime::to_hex(runtime::as_bytes(opened.hash)), ")"});
        if (!x_installation) x_position.time_ms = parent_time_ms(*command);
        x_position.time_ms = log_time_ms(x_position.time_ms, record.time_ms, command->sender_clock_ms);
        x_events_told = 0;
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
    finish(opened, changes.take(), effect::applied);
    if (!x_installation) {
        x_installation = tables::installation::find(*x_batch);
        look_at_restoring();
    } else if (x_is_restoring && done.type == schemas::commands::end_restore::type) {
        look_at_restoring();
    }
    return done;
}

result<void> engine::check_level() const {
    if (x_level <= schemas::commands::newest_level) return {};
    return runtime::failed_precondition({"the log is at level ", x_level,
                                         " and this program goes up to level ",
                                         schemas::commands::newest_level, ": install a newer one"});
}

void engine::fire_due_timers(state_changes& changes, std::uint64_t offset) {
    if (!x_installation || x_is_restoring || x_position.time_ms < x_next_timer_ms) return;
    x_next_timer_ms = INT64_MAX;
    rule_context::place here = place_in(*x_installation, x_position, x_level, offset);
    here.events_told = &x_events_told;
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
        return refused(runtime::failed_precondition(
            {"the command is of level ", command.level, "; the level in force is ", x_level}));
    const schemas::commands::sender from = schemas::commands::find_command(command.type)->traits.from;
    const bool is_of_a_user =
        from == schemas::commands::sender::user || from == schemas::commands::sender::signed_url;
    if (x_is_restoring && is_of_a_user)
        return refused(runtime::unavailable("the installation is being restored; try again when it is done"));
    // The key that was accepted on arrival must still be one of the user's at the command's place in the log
    // (revocation). Not stored: a repeat with a valid key must be heard.
    if (from == schemas::commands::sender::user &&
        !access::is_key_of(changes, command.request.principal, command.request.credential_hash))
        return refused(runtime::unauthenticated("this developer key is no longer valid"));
    auto kept = outcomes::find_outcome(changes, command.request);
    if (kept && outcomes::is_repeat(*kept, command.request)) return *std::move(kept);

    rule_context::place here{offset, x_position.time_ms, command.log_id, command.generation, 0, x_level};
    here.events_told = &x_events_told;
    if (x_installation) here.event_partitions = x_installation->event_partitions;
    rule_context keeper(changes, here, command);
    audit::subject about;
    const bool is_audited = audit::is_audited(keeper);
    if (is_audited) about = audit::subject_of(changes, command);
    schemas::commands::outcome outcome = kept ? *std::move(kept) : decide(changes, here, command);
    if (is_audited) audit::add(keeper, std::move(about), outcome);
    return outcome;
}

schemas::commands::outcome engine::decide(state_changes& changes, const rule_context::place& here,
                                          const command_envelope& command) {
    if (!outcomes::has_room_for_outcome(changes, command.request))
        return refused(
            runtime::resource_exhausted("too many requests with an Idempotency-Key in 24 h; try later"));
    state_changes own(&changes);
    rule_context context(own, here, command);
    rules::answer answer = runner_of(command.type)(context, command.body);
    if (answer && own.changes().size() > limits::mutations_per_command_max)
        answer = runtime::invalid_argument({"this request would change more than ",
                                            limits::mutations_per_command_max, " rows at once; split it"});
    schemas::commands::outcome outcome;
    if (answer) {
        changes.absorb(own.take());
        outcome.body = *std::move(answer);
    } else {
        outcome = refused(answer.error());
    }
    outcome.command_id = command.command_id;
    outcome.offset = here.offset;
    outcome.key_name = std::move(context.minted_with);
    rule_context keeper(changes, here, command);
    return outcomes::keep_outcome(keeper, std::move(outcome));
}

bool engine::is_skipped(const opened_record& opened) const {
    return std::any_of(x_skips.begin(), x_skips.end(), [&](const skipped_record& one) {
        return one.offset == static_cast<std::uint64_t>(opened.record->offset) &&
               one.hash == runtime::as_bytes(opened.hash);
    });
}

void engine::finish(const opened_record& opened, row_changes mutations, effect what) {
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
    x_unwritten_bytes += hashed.size();
    if (what == effect::skipped) hashed += "skipped";
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
    x_unwritten_bytes = 0;
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
