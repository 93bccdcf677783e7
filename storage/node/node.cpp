// How a node applies the log, answers, and stops.
#include "storage/node/node.hpp"

#include <algorithm>

#include <thread>
#include <utility>
#include "events/log/topics.hpp"
#include "events/publisher.hpp"
#include "runtime/assert.hpp"
#include "runtime/limits.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "runtime/mutex.hpp"
#include "storage/node/command_gateway.hpp"
#include "storage/node/disk_guard.hpp"
#include "storage/node/job_claims.hpp"
#include "storage/node/level_watch.hpp"
#include "storage/node/limits.hpp"
#include "storage/node/log_node.hpp"
#include "storage/node/outbox_backlog.hpp"
#include "storage/registry/tables/installation.hpp"

namespace herald::storage::node {
namespace {

constexpr std::int64_t applier_wait_ms = 200;  // also how long a stop may take
constexpr std::int64_t drain_look_ms = 20;
constexpr std::int64_t outbox_look_ms = 2'000;

class publisher_job final : public claimed_job {
  public:
    explicit publisher_job(std::shared_ptr<events::publisher> work) : x_work(std::move(work)) {}
    void start(std::uint64_t token) override { x_work->start(token); }
    void stop() override { x_work->stop(); }

  private:
    const std::shared_ptr<events::publisher> x_work;
};

/// Not yet a state that anybody may see.
bool is_restoring(const registry::state::state_view& state) {
    const auto progress = registry::tables::restoring::find(state);
    return progress && !progress->is_done;
}

bool withdraws(schemas::commands::command_type type) noexcept {
    const auto* const command = schemas::commands::find_command(type);
    return command && command->traits.withdraws;
}

}  // namespace

log_node::log_node(registry_node::options with, const registry_node::parts& on)
    : x_options(std::move(with)),
      x_on(on),
      x_boot(on.random.uuid()),
      x_replica(std::make_shared<replica>(
          on.log, on.store, on.scheduler.time(), x_options.name,
          replica::listener{[this](registry::engine::applied_record& done) { applied(done); },
                            [this](const written_tables& tables) { written(tables); },
                            [this] { x_on.scheduler.post(if_alive(&log_node::speak_now)); },
                            [this](const applied_state& next, const registry::tables::serving_changes& what) {
                                about_to_show(next, what);
                            }},
          x_options.skips)),
      x_gateway(std::make_shared<command_gateway>(
          command_gateway::parts{on.log, x_replica, on.scheduler, on.random, x_options.disk})),
      x_barrier(std::make_shared<read_barrier>(read_barrier::parts{on.log, x_replica, on.scheduler, x_gateway,
                                                                   x_options.reads == read_mode::log})),
      x_outbox(on.store),
      x_publisher(events::make_publisher(on.log, x_outbox, on.scheduler)),
      x_jobs(std::make_shared<job_claims>(x_options.name, x_boot, x_gateway, on.scheduler)) {
    x_jobs->add(schemas::job::publisher, std::make_shared<publisher_job>(x_publisher));
    x_barrier->applied(x_replica->newest()->position.next_offset);
}

log_node::~log_node() {
    {
        const runtime::lock_guard lock(x_mutex);
        x_is_stopping = true;
    }
    x_stopping.notify_all();
    if (x_applier.joinable()) x_applier.join();
    x_gateway->close();
}

// ---- applying

void log_node::start() {
    HERALD_ASSERT(!x_applier.joinable());
    if (x_options.has_thread) {
        x_applier = std::thread([this] { run_applier(); });
    } else {
        x_replica->on_ready(runtime::if_alive(weak_from_this(), [](log_node& self) {
            if (!self.x_is_advance_posted.exchange(true))
                self.x_on.scheduler.post(self.if_alive(&log_node::advance_on_scheduler));
        }));
        x_is_advance_posted = true;
        x_on.scheduler.post(if_alive(&log_node::advance_on_scheduler));
    }
    x_on.scheduler.post(if_alive(&log_node::tick));
}

void log_node::run_applier() {
    for (;;) {
        std::size_t records = 0;
        const auto rest_ms = advance(applier_wait_ms, records);
        const runtime::lock_guard lock(x_mutex);
        if (!rest_ms || x_is_stopping) return;
        if (*rest_ms > 0)
            x_stopping.wait_for(x_mutex, std::chrono::milliseconds(*rest_ms),
                                [this]() REQUIRES(x_mutex) { return x_is_stopping; });
    }
}

void log_node::advance_on_scheduler() {
    x_is_advance_posted = false;
    std::size_t records = 0;
    const auto rest_ms = advance(0, records);
    if (!rest_ms) return;
    if (*rest_ms > 0)
        x_on.scheduler.run_at(now_ms() + *rest_ms, if_alive(&log_node::advance_on_scheduler));
    else if (records > 0 && !x_is_advance_posted.exchange(true))
        x_on.scheduler.post(if_alive(&log_node::advance_on_scheduler));
}

std::optional<std::int64_t> log_node::advance(std::int64_t wait_ms, std::size_t& records) {
    if (x_has_failed) return std::nullopt;
    const std::int64_t began_ms = now_ms();
    const auto outcome = x_replica->advance(wait_ms);
    if (const auto* failure = std::get_if<node_failure>(&outcome)) {
        fail(failure->what, failure->message);
        return std::nullopt;
    }
    const auto& progress = std::get<replica::progress>(outcome);
    records = progress.records;
    if (x_is_caught_up) return progress.rest_ms;
    if (x_replayed == 0) x_replay_began_ms = began_ms;
    x_replayed += records;
    if (progress.at_end && x_replica->newest()->installation && !is_restoring(*x_replica->newest()->view)) {
        const auto took_ms =
            static_cast<std::uint64_t>(std::max<std::int64_t>(now_ms() - x_replay_began_ms, 1));
        if (x_replayed >= limits::replayed_records_min)
            x_replayed_per_second = std::max<std::uint64_t>(x_replayed * 1'000 / took_ms, 1);
        x_is_caught_up = true;
        x_on.scheduler.post(if_alive(&log_node::speak));
    }
    return progress.rest_ms;
}

void log_node::about_to_show(const applied_state& next, const registry::tables::serving_changes& changes) {
    if (!x_options.about_to_show) return;
    x_options.about_to_show({next.view, changes, next.offset(), next.level, x_is_caught_up});
}

std::int64_t log_node::serves_until_ms() const noexcept {
    if (x_options.kind == node_kind::standalone) return std::numeric_limits<std::int64_t>::max();
    const std::int64_t sent_ms = x_heard_sent_ms;
    return sent_ms == never_ms ? sent_ms : sent_ms + x_options.isolation_grace_ms;
}

void log_node::applied(registry::engine::applied_record& done) {
    // Its sender waits until every node has confirmed it.
    const bool must_be_told = x_options.serves_predictions && x_options.kind == node_kind::cluster &&
                              done.outcome.code == 0 && withdraws(done.type);
    x_gateway->complete(done);
    if (must_be_told && !x_will_speak_now.exchange(true)) x_on.scheduler.post(if_alive(&log_node::speak_now));
}

void log_node::written(const written_tables& tables) {
    x_barrier->applied(x_replica->newest()->position.next_offset);
    if (tables.has_heartbeats()) wake_heartbeat_waiters();
    if (!tables.has_events() && !tables.has_webhook_changes() && !tables.has_claims()) return;
    {
        const runtime::lock_guard lock(x_mutex);
        x_written |= tables;
        if (std::exchange(x_look_is_posted, true)) return;
    }
    x_on.scheduler.post(if_alive(&log_node::look));
}

void log_node::after_next_heartbeat(std::function<void()> woken) {
    {
        const runtime::lock_guard lock(x_mutex);
        if (!x_has_failed) {  // fail() wakes the callers that were here before it
            x_heartbeat_waiters.push_back(std::move(woken));
            return;
        }
    }
    woken();
}

void log_node::wake_heartbeat_waiters() {
    std::vector<std::function<void()>> all;
    {
        const runtime::lock_guard lock(x_mutex);
        all = std::exchange(x_heartbeat_waiters, {});
    }
    for (const auto& each : all) each();
}

// ---- what operators watch

void log_node::ask_log_end() {
    if (std::exchange(x_is_asking_log_end, true)) return;
    const auto answered = runtime::if_alive(
        weak_from_this(), [](log_node& self, const result<events::log::offset_range>& range) {
            self.x_is_asking_log_end = false;
            if (range) self.x_log_end = static_cast<std::uint64_t>(range->next);
        });
    x_on.log.query_range({std::string(events::log::topic::commands), 0},
                         runtime::posted(x_on.scheduler, answered));
}

/// A node that does not publish learns the publisher's progress from its heartbeats.
void log_node::look_at_outbox() {
    const std::int64_t now = now_ms();
    if (!x_is_ready || now - x_outbox_looked_ms < outbox_look_ms) return;
    x_outbox_looked_ms = now;
    const auto state = x_replica->newest();
    if (std::exchange(x_time_seen_ms, state->position.time_ms) != state->position.time_ms)
        x_time_seen_at_ms = now;
    const bool publishes = x_publisher->token() != 0;
    const outbox_backlog waits = backlog_of(
        *state->view, publishes ? x_publisher->published() : std::vector<schemas::published_position>());
    const std::int64_t log_now_ms = x_time_seen_ms + now - x_time_seen_at_ms;
    x_outbox_rows = waits.rows;
    x_outbox_oldest_ms = waits.oldest_ms ? log_now_ms - *waits.oldest_ms : 0;
}

// ---- answering

std::optional<runtime::trouble> log_node::own_trouble() const {
    namespace reason = runtime::not_ready_reason;
    if (x_has_failed) return runtime::trouble{reason::failed, "this node cannot go on"};
    if (x_is_draining) return runtime::trouble{reason::draining, "this node is shutting down"};
    if (!x_is_ready) return runtime::trouble{reason::starting, "this node is not ready yet"};
    return std::nullopt;
}

/// A load balancer that asks this takes no node away because the log is out of reach, which it is for all
/// nodes at once: they answer reads and predictions from what they have.
std::optional<runtime::trouble> log_node::trouble_of_reads() const {
    if (auto own = own_trouble()) return own;
    if (now_ms() < serves_until_ms()) return std::nullopt;
    return runtime::trouble{
        runtime::not_ready_reason::log_unreachable,
        "the log is out of reach for longer than this node serves predictions without it (" +
            std::to_string(x_options.isolation_grace_ms / 1'000) + " s): what it would answer may be old"};
}

std::optional<runtime::trouble> log_node::trouble() const {
    namespace reason = runtime::not_ready_reason;
    if (auto own = own_trouble()) return own;
    if (x_is_tied)
        return runtime::trouble{reason::hashes_tied,
                                "nodes disagree about the state: no writes until an operator has looked"};
    if (x_replica->is_stuck()) return runtime::trouble{reason::state_not_written, x_replica->stuck_because()};
    const std::int64_t unheard_ms = now_ms() - x_heard_ms;
    if (x_options.kind == node_kind::cluster && unheard_ms > limits::unheard_ms_max)
        return runtime::trouble{reason::log_unreachable,
                                "the log cannot be reached: this node was not heard in it for " +
                                    std::to_string(unheard_ms / 1'000) + " s"};
    if (const auto taken = x_on.log.takes_appends(); !taken)
        return runtime::trouble{reason::log_not_written, taken.error().message};
    return std::nullopt;
}

std::optional<registry_node::reading> log_node::read_now(freshness needed) const {
    const bool is_newest = x_options.kind == node_kind::standalone || x_options.reads == read_mode::local;
    if (!x_is_ready || (needed == freshness::newest && !is_newest)) return std::nullopt;
    return read_barrier::reading_of(*x_replica->newest(), false);
}

void log_node::read(reading_handler handler) {
    if (auto now = read_now(freshness::newest)) return handler(*std::move(now));
    if (!x_is_ready) return handler(runtime::unavailable("this node is not ready"));
    x_barrier->read(std::move(handler));
}

registry_node::status log_node::state_now() const {
    const auto state = x_replica->newest();
    const std::uint64_t next = state->position.next_offset;
    status now;
    now.not_ready = trouble();
    now.reads_refused = trouble_of_reads();
    now.writes_refused = now.not_ready;
    if (!now.writes_refused && x_options.disk && x_options.disk->is_low())
        now.writes_refused =
            runtime::trouble{runtime::not_ready_reason::disk_low, std::string(disk_low_message)};
    now.next_offset = next;
    now.time_ms = state->position.time_ms;
    now.hash = state->position.hash;
    now.commands_in_flight = x_gateway->in_flight();
    now.lag_records = std::max({x_log_end.load(), x_gateway->log_end(), next}) - next;
    now.log_bytes = state->position.log_bytes;
    now.replay_ms = static_cast<std::int64_t>(next * 1'000 / x_replayed_per_second);
    now.nodes_that_differ = x_replica->peers().votes().differ;
    now.outbox_rows = x_outbox_rows;
    now.outbox_oldest_ms = x_outbox_oldest_ms;
    return now;
}

// ---- ending

void log_node::fail(node_failure::kind what, const std::string& message) {
    if (x_has_failed.exchange(true)) return;
    x_is_ready = false;
    runtime::log(runtime::log_level::error, runtime::log_events::node_failed,
                 {{"node", x_options.name}, {"reason", message}});
    x_gateway->close();
    x_on.scheduler.post([jobs = x_jobs] { jobs->stop(); });
    wake_heartbeat_waiters();
    if (x_options.on_failure) x_options.on_failure({what, message});
}

void log_node::drain(std::function<void()> done) {
    x_is_draining = true;
    x_on.scheduler.post(runtime::if_alive(weak_from_this(), [done = std::move(done)](log_node& self) {
        self.x_jobs->stop();
        self.say_farewell();
        self.wait_for_drain(done, self.now_ms() + limits::drain_commands_ms_max);
    }));
}

/// Frees its claims at once; otherwise they would have to lapse.
void log_node::say_farewell() {
    if (x_options.kind != node_kind::cluster || !x_is_ready) return;
    schemas::commands::node_heartbeat last = heartbeat();
    last.last = true;
    x_farewell_until_ms = now_ms() + limits::farewell_ms_max;
    const auto heard = runtime::if_alive(weak_from_this(),
                                         [](log_node& self, const auto&) { self.x_farewell_until_ms = 0; });
    x_gateway->submit_own(last, runtime::posted(x_on.scheduler, heard));
}

void log_node::wait_for_drain(std::function<void()> done, std::int64_t deadline_ms) {
    const bool is_drained = x_gateway->in_flight() == 0 && now_ms() >= x_farewell_until_ms;
    if (is_drained || now_ms() >= deadline_ms) {
        x_gateway->close();
        return done();
    }
    x_on.scheduler.run_at(
        now_ms() + drain_look_ms,
        runtime::if_alive(weak_from_this(), [done = std::move(done), deadline_ms](log_node& self) {
            self.wait_for_drain(done, deadline_ms);
        }));
}

std::shared_ptr<registry_node> make_node(registry_node::options options, registry_node::parts on) {
    return std::make_shared<log_node>(std::move(options), on);
}

}  // namespace herald::storage::node
