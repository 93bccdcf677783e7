// What a node does by itself, on the scheduler: heartbeats, claims, votes about the state, and the level.
#include <algorithm>

#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "storage/node/limits.hpp"
#include "storage/node/log_node.hpp"
#include "storage/node/membership.hpp"
#include "storage/registry/tables/timers.hpp"

namespace herald::storage::node {
namespace {

constexpr std::int64_t tick_ms = 500;
constexpr std::int64_t timers_due_rest_ms = 20;
constexpr std::int64_t peers_look_ms = 20;

}  // namespace

void log_node::tick() {
    if (x_has_failed) return;
    if (x_options.disk) x_options.disk->check();
    x_gateway->expire();
    if (!x_is_caught_up) ask_log_end();
    look_at_outbox();
    speak();
    if (x_is_ready) check_hashes();
    if (x_is_ready && !x_is_draining) {
        x_jobs->look(*x_replica->newest());
        look_at_level();
    }
    x_on.scheduler.run_at(now_ms() + tick_ms, if_alive(&log_node::tick));
}

void log_node::look() {
    written_tables tables;
    {
        const runtime::lock_guard lock(x_mutex);
        tables = std::exchange(x_written, {});
        x_look_is_posted = false;
    }
    if (!x_is_ready || x_has_failed) return;
    const auto state = x_replica->newest();
    if (tables.has_claims() && !x_is_draining) x_jobs->look(*state);
    if (tables.has_events() || tables.has_webhook_changes()) x_publisher->wake();
}

bool log_node::is_time_to_speak(std::int64_t now) const {
    if (!x_is_caught_up || x_has_failed || x_is_draining) return false;
    if (!x_is_first_heard) return x_heartbeats_in_flight == 0;
    if (x_options.kind == node_kind::cluster) return now - x_spoke_ms >= limits::heartbeat_interval_ms;
    if (x_heartbeats_in_flight > 0) return false;
    if (now - x_spoke_ms >= limits::heartbeat_interval_standalone_ms) return true;
    const auto due_ms = registry::tables::timers::first_due_ms(*x_replica->newest()->view);
    return due_ms && *due_ms <= x_on.log.time_ms().value_or(x_on.scheduler.time().wall_ms());
}

void log_node::speak() {
    const std::int64_t now = now_ms();
    if (!is_time_to_speak(now)) return;
    x_spoke_ms = now;
    ++x_heartbeats_in_flight;
    send_heartbeat(heartbeat(), now);
}

/// When other nodes hear that this node has applied a command that takes something away (a report that a
/// build is unsafe), no prediction that it forbids goes out here any more (P7).
void log_node::send_heartbeat(const schemas::commands::node_heartbeat& beat, std::int64_t sent_ms) {
    if (!x_options.quiesce) return submit_heartbeat(beat, sent_ms);
    if (x_has_failed || x_is_draining) return;
    x_options.quiesce(
        runtime::posted(x_on.scheduler, runtime::if_alive(weak_from_this(), [beat, sent_ms](log_node& self) {
                            self.submit_heartbeat(beat, sent_ms);
                        })));
}

void log_node::submit_heartbeat(const schemas::commands::node_heartbeat& beat, std::int64_t sent_ms) {
    const auto answered = runtime::if_alive(
        weak_from_this(), [sent_ms](log_node& self, const auto& outcome) { self.heard(outcome, sent_ms); });
    x_gateway->submit_own(beat, runtime::posted(x_on.scheduler, answered));
}

schemas::commands::node_heartbeat log_node::heartbeat() const {
    const auto state = x_replica->newest();
    schemas::commands::node_heartbeat beat;
    beat.node = x_options.name;
    beat.boot = x_boot;
    beat.applied_offset = state->offset();
    beat.record_hash = state->position.last_record_hash;
    beat.state_hash = state->position.hash;
    beat.vouches = x_replica->peers().vouches();
    beat.publisher_token = x_publisher->token();
    if (beat.publisher_token != 0) beat.published = x_publisher->published();
    beat.first = !x_is_first_heard;
    beat.isolation_grace_ms = x_options.isolation_grace_ms;
    beat.serves_predictions = x_options.serves_predictions;
    beat.runtimes = x_options.runtimes;
    return beat;
}

void log_node::heard(const result<schemas::commands::outcome>& outcome, std::int64_t sent_ms) {
    --x_heartbeats_in_flight;
    if (x_is_draining) return;
    if (!outcome || now_ms() - sent_ms > limits::heartbeat_slow_ms) x_replica->compare_with_log();
    if (!outcome) return;
    if (outcome->code == static_cast<std::uint32_t>(error_code::aborted))
        return fail(node_failure::kind::superseded, outcome->message);
    if (outcome->code != 0) return;
    x_barrier->heartbeat_arrived(sent_ms);
    x_heard_ms = now_ms();
    x_heard_sent_ms = std::max(x_heard_sent_ms.load(), sent_ms);
    if (!std::exchange(x_is_first_heard, true)) {
        x_first_heard_ms = now_ms();
        begin_to_serve();
    }
    // More timers may be due than one record can fire.
    if (x_options.kind == node_kind::standalone)
        x_on.scheduler.run_at(now_ms() + timers_due_rest_ms, if_alive(&log_node::speak));
}

/// The others answer a first heartbeat at once, so hashes are compared before this node serves. Only a node
/// that has just died delays that.
void log_node::begin_to_serve() {
    check_hashes();
    if (x_has_failed || x_is_draining) return;
    const auto state = x_replica->newest();
    const auto others = live_nodes(*state, x_options.name);
    const bool has_compared = std::all_of(others.begin(), others.end(), [this](const std::string& other) {
        return x_replica->peers().has_compared(other);
    });
    if (!has_compared && now_ms() - x_first_heard_ms < limits::peers_compared_ms_max)
        return x_on.scheduler.run_at(now_ms() + peers_look_ms, if_alive(&log_node::begin_to_serve));
    runtime::log(runtime::log_level::info, runtime::log_events::node_ready,
                 {{"node", x_options.name}, {"offset", static_cast<std::int64_t>(state->offset())}});
    x_is_ready = true;
    x_jobs->look(*state);
}

void log_node::speak_now() {
    x_will_speak_now = false;  // before it looks at what is applied
    if (!x_is_first_heard) return;
    x_spoke_ms = now_ms() - limits::heartbeat_interval_ms;
    speak();
}

void log_node::check_hashes() {
    const hash_votes votes = x_replica->peers().votes();
    const bool is_tied = votes.differ == votes.agree;
    if (std::exchange(x_votes, votes) != votes && votes.differ > 0)
        runtime::log(runtime::log_level::error, runtime::log_events::node_hash_differs,
                     {{"node", x_options.name},
                      {"offset", static_cast<std::int64_t>(votes.offset)},
                      {"agree", static_cast<std::int64_t>(votes.agree)},
                      {"differ", static_cast<std::int64_t>(votes.differ)}});
    if (votes.differ > votes.agree)
        return fail(node_failure::kind::diverged,
                    "this node's state differs from that of most others at offset " +
                        std::to_string(votes.offset) + ": it will be rebuilt from the log");
    x_is_tied = is_tied;
}

/// The result shows in the state; a raise without effect is requested again.
void log_node::look_at_level() {
    const auto to = x_levels.look(*x_replica->newest(), x_publisher->token() != 0, now_ms());
    if (to) x_gateway->submit_own(schemas::commands::raise_level{*to}, [](const auto&) {});
}

}  // namespace herald::storage::node
