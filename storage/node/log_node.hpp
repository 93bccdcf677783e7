// The registry of a node, as a class. Internal to storage/node: node.cpp applies, answers and stops;
// node_speaking.cpp is what the node does by itself, on the scheduler.
#pragma once

#include <atomic>
#include <limits>
#include <thread>
#include <utility>

#include "events/publisher.hpp"
#include "runtime/assert.hpp"
#include "runtime/lifetime.hpp"
#include "storage/node/command_gateway.hpp"
#include "storage/node/job_claims.hpp"
#include "storage/node/level_watch.hpp"
#include "storage/node/node.hpp"
#include "storage/node/outbox_view.hpp"
#include "storage/node/read_barrier.hpp"
#include "storage/node/replica.hpp"

namespace herald::storage::node {

/// How many records are applied per second, assumed until some were counted.
inline constexpr std::uint64_t replayed_per_second_assumed = 40'000;

/// Threads: the applier advances the replica and completes commands and reads; the scheduler's thread speaks
/// for the node (heartbeats, claims, jobs); any thread submits and reads. They share only atomics, the
/// gateway, the barrier and what x_mutex guards.
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
    std::optional<reading> read_now(freshness) const override;
    void read(reading_handler) override;
    void after_next_heartbeat(std::function<void()> heard) override;
    bool ready() const noexcept override { return x_is_ready; }
    status state_now() const override;
    identity me() const override { return {x_options.name, x_boot}; }
    std::int64_t serves_until_ms() const noexcept override;
    void add_job(schemas::job which, std::shared_ptr<claimed_job> work) override {
        x_jobs->add(which, std::move(work));
    }
    void start() override;
    void drain(std::function<void()> done) override;

  private:
    // Runs on the applier's thread.
    void run_applier();
    void advance_on_scheduler();
    /// How long to pause; empty when the node has failed.
    std::optional<std::int64_t> advance(std::int64_t wait_ms, std::size_t& records);
    void applied(registry::engine::applied_record&);
    void about_to_show(const applied_state&, const registry::tables::serving_changes&);
    void written(const written_tables&);
    void wake_heartbeat_waiters();

    // Runs on the scheduler's thread.
    void tick();
    void look();
    void speak();
    void speak_now();
    /// The content was known before `sent_ms`.
    void send_heartbeat(const schemas::commands::node_heartbeat&, std::int64_t sent_ms);
    void submit_heartbeat(const schemas::commands::node_heartbeat&, std::int64_t sent_ms);
    bool is_time_to_speak(std::int64_t now_ms) const;
    schemas::commands::node_heartbeat heartbeat() const;
    void heard(const result<schemas::commands::outcome>&, std::int64_t sent_ms);
    void begin_to_serve();
    void check_hashes();
    void look_at_level();
    void say_farewell();
    void wait_for_drain(std::function<void()> done, std::int64_t deadline_ms);

    void fail(node_failure::kind, const std::string& message);
    /// Why this node is not ready; callable on any thread.
    std::optional<runtime::trouble> trouble() const;
    /// Why it answers neither reads nor predictions, or should not be asked for them. Any thread.
    std::optional<runtime::trouble> trouble_of_reads() const;
    /// Of the process itself, whatever the log does.
    std::optional<runtime::trouble> own_trouble() const;
    void ask_log_end();
    void look_at_outbox();
    std::int64_t now_ms() const { return x_on.scheduler.time().steady_ms(); }
    /// A task that does nothing once the node is gone.
    runtime::scheduler::task if_alive(void (log_node::*step)()) {
        return runtime::if_alive(weak_from_this(), [step](log_node& self) {
            try {
                (self.*step)();
            } catch (const registry::state::state_unreadable& unreadable) {
                self.fail(node_failure::kind::state_unreadable, unreadable.what());
            }
        });
    }

    static constexpr std::int64_t never_ms = std::numeric_limits<std::int64_t>::min();

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
    std::atomic<bool> x_will_speak_now = false;
    std::atomic<std::int64_t> x_heard_ms = 0;              // when the newest own heartbeat was applied
    std::atomic<std::int64_t> x_heard_sent_ms = never_ms;  // and when it was sent
    std::atomic<std::uint64_t> x_log_end = 0;              // according to the log, while this node catches up
    std::atomic<std::uint64_t> x_replayed_per_second = replayed_per_second_assumed;
    std::atomic<std::uint64_t> x_outbox_rows = 0;
    std::atomic<std::int64_t> x_outbox_oldest_ms = 0;

    runtime::mutex x_mutex;
    written_tables x_written GUARDED_BY(x_mutex);  // since the last look()
    bool x_look_is_posted GUARDED_BY(x_mutex) = false;
    std::vector<std::function<void()>> x_heartbeat_waiters GUARDED_BY(x_mutex);

    // Used only on the scheduler's thread.
    std::int64_t x_spoke_ms = 0;
    bool x_is_first_heard = false;
    std::int64_t x_first_heard_ms = 0;
    level_watch x_levels;
    hash_votes x_votes;  // as last reported
    std::size_t x_heartbeats_in_flight = 0;
    bool x_is_asking_log_end = false;
    std::int64_t x_outbox_looked_ms = INT64_MIN / 2;
    std::int64_t x_time_seen_ms = 0;  // log time, and when this node first saw it:
    std::int64_t x_time_seen_at_ms = 0;
    std::int64_t x_farewell_until_ms = 0;  // until then a drain waits for the last heartbeat to be applied

    // Used by the applier's thread.
    std::atomic<bool> x_is_advance_posted = false;
    std::size_t x_replayed = 0;  // number of records, until the log's end was reached
    std::int64_t x_replay_began_ms = 0;
    runtime::condition_variable x_stopping;
    bool x_is_stopping GUARDED_BY(x_mutex) = false;
    std::thread x_applier;
};

}  // namespace herald::storage::node
