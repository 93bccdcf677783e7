#include "storage/node/node.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "events/log/topics.hpp"
#include "events/publisher.hpp"
#include "runtime/assert.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "storage/node/command_gateway.hpp"
#include "storage/node/disk_guard.hpp"
#include "storage/node/job_claims.hpp"
#include "storage/node/level_watch.hpp"
#include "storage/node/membership.hpp"
#include "storage/node/outbox_backlog.hpp"
#include "storage/node/outbox_view.hpp"
#include "storage/node/read_barrier.hpp"
#include "storage/node/replica.hpp"
#include "storage/registry/tables/timers.hpp"

namespace herald::storage::node {
namespace {

constexpr std::int64_t tick_ms = 500;
constexpr std::int64_t applier_wait_ms = 200;  // also how long a stop may take
constexpr std::int64_t timers_due_rest_ms = 20;
constexpr std::int64_t drain_look_ms = 20;
constexpr std::int64_t peers_look_ms = 20;
constexpr std::int64_t farewell_ms_max = 1'000;
constexpr std::int64_t outbox_look_ms = 2'000;
constexpr std::size_t replayed_records_min = 10'000;  // fewer do not tell how fast it goes
constexpr std::uint64_t replayed_per_second_assumed = 40'000;

class publisher_job final : public claimed_job {
  public:
    explicit publisher_job(std::shared_ptr<events::publisher> work) : x_work(std::move(work)) {}
    void start(std::uint64_t token) override { x_work->start(token); }
    void stop() override { x_work->stop(); }

  private:
    const std::shared_ptr<events::publisher> x_work;
};

// Threads: the applier advances the replica and completes commands and reads; the scheduler's speaks for the
// node (heartbeats, claims, jobs); any thread submits and reads. Between them only atomics, the gateway, the
// barrier and x_mutex.
class log_node final : public registry_node, public std::enable_shared_from_this<log_node> {
  public:
    log_node(registry_node::options with, const registry_node::parts& on);
    ~log_node() override;

    void submit(schemas::commands::command_type type, std::string body,
                schemas::commands::request_identity who, schemas::uuid command_id,
                outcome_handler handler) override {
        const schemas::commands::listed_command* const kind = schemas::commands::find_command(type);
        HERALD_ASSERT(kind);
        if (kind->traits.from != schemas::commands::sender::node)
            if (const auto why = trouble()) return handler(runtime::unavailable(why->message));
        x_gateway->submit(type, std::move(body), std::move(who), command_id, std::move(handler));
    }
    std::optional<reading> read_applied() const override;
    std::optional<reading> read_now() const override;
    void read(reading_handler) override;
    bool ready() const noexcept override { return x_is_ready; }
    status state_now() const override;
    void add_job(std::string name, std::shared_ptr<claimed_job> job) override {
        x_jobs->add(std::move(name), std::move(job));
    }
    void start() override;
    void drain(std::function<void()> done) override;

  private:
    // On the applier's thread.
    void run_applier();
    void advance_on_scheduler();
    /// How long to rest; nothing when the node has failed.
    std::optional<std::int64_t> advance(std::int64_t wait_ms, std::size_t& records);
    void written(const written_tables&);

    // On the scheduler's thread.
    void tick();
    void look();
    void speak();
    void speak_now();
    bool is_time_to_speak(std::int64_t now_ms) const;
    schemas::commands::node_heartbeat heartbeat() const;
    void heard(const result<schemas::commands::outcome>&, std::int64_t sent_ms);
    void begin_to_serve();
    void check_hashes();
    void look_at_level();
    void say_farewell();
    void wait_for_drain(std::function<void()> done, std::int64_t deadline_ms);

    void fail(node_failure::kind, const std::string& message);
    /// Why this node is not ready; any thread.
    std::optional<runtime::trouble> trouble() const;
    void ask_log_end();
    void look_at_outbox();
    std::int64_t now_ms() const { return x_on.scheduler.time().steady_ms(); }
    /// A task that does nothing once the node is gone.
    runtime::scheduler::task if_alive(void (log_node::*step)()) {
        return [weak = weak_from_this(), step] {
            const auto self = weak.lock();
            if (!self) return;
            try {
                (*self.*step)();
            } catch (const registry::state::state_unreadable& unreadable) {
                self->fail(node_failure::kind::state_unreadable, unreadable.what());
            }
        };
    }

    const registry_node::options x_options;
    const registry_node::parts x_on;
    const schemas::uuid x_boot;
    const std::shared_ptr<replica> x_replica;
    const std::shared_ptr<command_gateway> x_gateway;
    const std::shared_ptr<read_barrier> x_barrier;
    const outbox_view x_outbox;
    const std::shared_ptr<events::publisher> x_publisher;
    const std::shared_ptr<job_claims> x_jobs;

    std::atomic<bool> x_is_caught_up = false;
    std::atomic<bool> x_is_ready = false;
    std::atomic<bool> x_has_failed = false;
    std::atomic<bool> x_is_draining = false;
    std::atomic<bool> x_is_tied = false;
    std::atomic<std::int64_t> x_heard_ms = 0;  // the newest own heartbeat was applied
    std::atomic<std::uint64_t> x_log_end = 0;  // as asked while this node catches up
    std::atomic<std::uint64_t> x_replayed_per_second = replayed_per_second_assumed;
    std::atomic<std::uint64_t> x_outbox_rows = 0;
    std::atomic<std::int64_t> x_outbox_oldest_ms = 0;

    std::mutex x_mutex;
    written_tables x_written;  // since the last look()
    bool x_look_is_posted = false;

    // The scheduler's thread only.
    std::int64_t x_spoke_ms = 0;
    bool x_is_first_heard = false;
    std::int64_t x_first_heard_ms = 0;
    level_watch x_levels;
    hash_votes x_votes;  // as they were told last
    std::size_t x_heartbeats_in_flight = 0;
    bool x_is_asking_log_end = false;
    std::int64_t x_outbox_looked_ms = INT64_MIN / 2;
    std::int64_t x_time_seen_ms = 0;  // log time, and when it was first seen here:
    std::int64_t x_time_seen_at_ms = 0;
    std::int64_t x_farewell_until_ms = 0;  // how long a drain waits for it to be heard

    // The applier's thread.
    std::atomic<bool> x_is_advance_posted = false;
    std::size_t x_replayed = 0;  // records, until the log's end was reached
    std::int64_t x_replay_began_ms = 0;
    std::condition_variable x_stopping;
    bool x_is_stopping = false;  // under x_mutex
    std::thread x_applier;
};

log_node::log_node(registry_node::options with, const registry_node::parts& on)
    : x_options(std::move(with)),
      x_on(on),
      x_boot(on.random.uuid()),
      x_replica(std::make_shared<replica>(
          on.log, on.store, on.scheduler.time(), x_options.name,
          replica::listener{[this](registry::engine::applied_record& done) { x_gateway->complete(done); },
                            [this](const written_tables& tables) { written(tables); },
                            [this] { x_on.scheduler.post(if_alive(&log_node::speak_now)); }})),
      x_gateway(std::make_shared<command_gateway>(
          command_gateway::parts{on.log, x_replica, on.scheduler, on.random, x_options.disk})),
      x_barrier(std::make_shared<read_barrier>(read_barrier::parts{on.log, x_replica, on.scheduler, x_gateway,
                                                                   x_options.reads == read_mode::log})),
      x_outbox(on.store),
      x_publisher(events::make_publisher(on.log, x_outbox, on.scheduler)),
      x_jobs(std::make_shared<job_claims>(x_options.name, x_boot, x_gateway, on.scheduler)) {
    x_jobs->add("publisher", std::make_shared<publisher_job>(x_publisher));
    x_barrier->applied(x_replica->newest()->position.next_offset);
}

log_node::~log_node() {
    {
        const std::lock_guard lock(x_mutex);
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
        x_replica->on_ready([weak = weak_from_this()] {
            const auto self = weak.lock();
            if (self && !self->x_is_advance_posted.exchange(true))
                self->x_on.scheduler.post(self->if_alive(&log_node::advance_on_scheduler));
        });
        x_is_advance_posted = true;
        x_on.scheduler.post(if_alive(&log_node::advance_on_scheduler));
    }
    x_on.scheduler.post(if_alive(&log_node::tick));
}

void log_node::run_applier() {
    for (;;) {
        std::size_t records = 0;
        const auto rest_ms = advance(applier_wait_ms, records);
        std::unique_lock lock(x_mutex);
        if (!rest_ms || x_is_stopping) return;
        if (*rest_ms > 0)
            x_stopping.wait_for(lock, std::chrono::milliseconds(*rest_ms), [this] { return x_is_stopping; });
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
    if (progress.at_end && x_replica->newest()->installation) {
        const auto took_ms =
            static_cast<std::uint64_t>(std::max<std::int64_t>(now_ms() - x_replay_began_ms, 1));
        if (x_replayed >= replayed_records_min)
            x_replayed_per_second = std::max<std::uint64_t>(x_replayed * 1'000 / took_ms, 1);
        x_is_caught_up = true;
        x_on.scheduler.post(if_alive(&log_node::speak));
    }
    return progress.rest_ms;
}

void log_node::written(const written_tables& tables) {
    x_barrier->applied(x_replica->newest()->position.next_offset);
    if (!tables.has_events() && !tables.has_webhook_changes() && !tables.has_claims()) return;
    {
        const std::lock_guard lock(x_mutex);
        x_written |= tables;
        if (std::exchange(x_look_is_posted, true)) return;
    }
    x_on.scheduler.post(if_alive(&log_node::look));
}

// ---- speaking in the log

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
        const std::lock_guard lock(x_mutex);
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
    x_gateway->submit_own(heartbeat(),
                          [weak = weak_from_this(), now, &scheduler = x_on.scheduler](const auto& outcome) {
                              scheduler.post([weak, now, outcome] {
                                  if (const auto self = weak.lock()) self->heard(outcome, now);
                              });
                          });
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
    if (!std::exchange(x_is_first_heard, true)) {
        x_first_heard_ms = now_ms();
        begin_to_serve();
    }
    // More timers may be due than one record fires.
    if (x_options.kind == node_kind::standalone)
        x_on.scheduler.run_at(now_ms() + timers_due_rest_ms, if_alive(&log_node::speak));
}

/// The others answer a first heartbeat at once: what they have is compared before this node serves. Only one
/// that has just died keeps it waiting.
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
                        std::to_string(votes.offset) + ": it will be made again from the log");
    x_is_tied = is_tied;
}

/// What becomes of it shows in the state; a raise that came to nothing is asked for again.
void log_node::look_at_level() {
    const auto to = x_levels.look(*x_replica->newest(), x_publisher->token() != 0, now_ms());
    if (to) x_gateway->submit_own(schemas::commands::raise_level{*to}, [](const auto&) {});
}

std::optional<runtime::trouble> log_node::trouble() const {
    namespace reason = runtime::not_ready_reason;
    if (x_has_failed) return runtime::trouble{reason::failed, "this node cannot go on"};
    if (x_is_draining) return runtime::trouble{reason::draining, "this node is shutting down"};
    if (!x_is_ready) return runtime::trouble{reason::starting, "this node is not ready yet"};
    if (x_is_tied)
        return runtime::trouble{reason::hashes_tied,
                                "nodes disagree about the state: no writes until an operator has looked"};
    if (x_replica->is_stuck())
        return runtime::trouble{reason::state_not_written, "the state database cannot be written"};
    const std::int64_t unheard_ms = now_ms() - x_heard_ms;
    if (x_options.kind == node_kind::cluster && unheard_ms > limits::unheard_ms_max)
        return runtime::trouble{reason::log_unreachable,
                                "the log is out of reach: this node was not heard in it for " +
                                    std::to_string(unheard_ms / 1'000) + " s"};
    if (const auto taken = x_on.log.takes_appends(); !taken)
        return runtime::trouble{reason::log_not_written, taken.error().message};
    return std::nullopt;
}

// ---- what operators watch

void log_node::ask_log_end() {
    if (std::exchange(x_is_asking_log_end, true)) return;
    x_on.log.query_range({std::string(events::log::topic::commands), 0},
                         [weak = weak_from_this(), &scheduler = x_on.scheduler](const auto& range) {
                             scheduler.post([weak, range] {
                                 const auto self = weak.lock();
                                 if (!self) return;
                                 self->x_is_asking_log_end = false;
                                 if (range) self->x_log_end = static_cast<std::uint64_t>(range->next);
                             });
                         });
}

/// Who does not publish knows of it from the publisher's heartbeats.
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

std::optional<registry_node::reading> log_node::read_applied() const {
    if (!x_is_ready) return std::nullopt;
    return read_barrier::reading_of(*x_replica->newest(), false);
}

std::optional<registry_node::reading> log_node::read_now() const {
    if (x_options.kind == node_kind::cluster && x_options.reads != read_mode::local) return std::nullopt;
    return read_applied();
}

void log_node::read(reading_handler handler) {
    if (auto now = read_now()) return handler(*std::move(now));
    if (!x_is_ready) return handler(runtime::unavailable("this node is not ready"));
    x_barrier->read(std::move(handler));
}

registry_node::status log_node::state_now() const {
    const auto state = x_replica->newest();
    const std::uint64_t next = state->position.next_offset;
    status now;
    now.not_ready = trouble();
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
    if (x_options.on_failure) x_options.on_failure({what, message});
}

void log_node::drain(std::function<void()> done) {
    x_is_draining = true;
    x_on.scheduler.post([weak = weak_from_this(), done = std::move(done)]() mutable {
        const auto self = weak.lock();
        if (!self) return;
        self->x_jobs->stop();
        self->say_farewell();
        self->wait_for_drain(std::move(done), self->now_ms() + limits::drain_commands_ms_max);
    });
}

/// So that its claims are free at once and not only when they lapse.
void log_node::say_farewell() {
    if (x_options.kind != node_kind::cluster || !x_is_ready) return;
    schemas::commands::node_heartbeat last = heartbeat();
    last.last = true;
    x_farewell_until_ms = now_ms() + farewell_ms_max;
    x_gateway->submit_own(last, [weak = weak_from_this(), &scheduler = x_on.scheduler](const auto&) {
        scheduler.post([weak] {
            if (const auto self = weak.lock()) self->x_farewell_until_ms = 0;
        });
    });
}

void log_node::wait_for_drain(std::function<void()> done, std::int64_t deadline_ms) {
    const bool is_drained = x_gateway->in_flight() == 0 && now_ms() >= x_farewell_until_ms;
    if (is_drained || now_ms() >= deadline_ms) {
        x_gateway->close();
        return done();
    }
    x_on.scheduler.run_at(now_ms() + drain_look_ms,
                          [weak = weak_from_this(), done = std::move(done), deadline_ms]() mutable {
                              if (const auto self = weak.lock())
                                  self->wait_for_drain(std::move(done), deadline_ms);
                          });
}

}  // namespace

std::shared_ptr<registry_node> make_node(registry_node::options options, registry_node::parts on) {
    return std::make_shared<log_node>(std::move(options), on);
}

}  // namespace herald::storage::node
