// Replays: under a claim, one node sends what they are about, and says in the log how far it is (design.md §1
// "Jobs are claims", wire.md §7 "replays").
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/random.hpp"
#include "runtime/scheduler.hpp"
#include "schemas/commands/deliveries.hpp"
#include "storage/deliveries/delivery_history.hpp"
#include "storage/deliveries/delivery_sender.hpp"
#include "storage/deliveries/replay_counter.hpp"
#include "storage/deliveries/replay_source.hpp"
#include "storage/node/node.hpp"

namespace herald::storage::deliveries {

/// First counts, then sends. Of each replay at most limits::replay_window deliveries are under way. The
/// cursor moves in the log only after what it passed is in deliveries.replay: after a crash some is sent
/// again, under its own id. Reads states and the disk, so it lives on a scheduler of its own, whose time it
/// shares in slices; start(), stop() and count() may be called on any thread. All arguments must outlive it.
class replay_job final : public node::claimed_job,
                         public replay_counter,
                         public std::enable_shared_from_this<replay_job> {
  public:
    replay_job(node::registry_node& registry, const registry::state::state_store& store,
               runtime::scheduler& scheduler, runtime::random_source& random, const delivery_history& history,
               delivery_sender& sender)
        : x_registry(registry),
          x_store(store),
          x_scheduler(scheduler),
          x_random(random),
          x_history(history),
          x_sender(sender) {}

    void start(std::uint64_t token) override;
    void stop() override;
    void count(schemas::replay, std::function<void(replay_count)> counted) override;

  private:
    /// What this process knows of a replay beside its row.
    struct run {
        bool is_waiting = false;  // for the log: it took records or a report
        std::string cursor;       // of the counting, or of the sending where it is ahead of the row
        std::uint64_t counted = 0;
        std::uint64_t sent = 0;  // what this process has sent, as counted in the row
        schemas::replay_outcomes outcomes;
        std::int64_t changed_ms = 0;  // when the outcomes changed last
    };
    struct counting;

    void look();
    void look_soon(std::int64_t in_ms);
    void step(const registry::state::state_view&, const schemas::replay&);
    void count_on(const registry::state::state_view&, const schemas::replay&, run&);
    void send_on(const registry::state::state_view&, const schemas::replay&, run&);
    std::uint64_t under_way_of(const schemas::replay&, run&);
    void decide(const registry::state::state_view&, const schemas::replay&, const replay_slice&);
    void send(const registry::state::state_view&, const schemas::replay&,
              const std::vector<schemas::event_for_webhook>&);
    void sent(const schemas::replay&, bool all);
    /// Why it cannot go on; empty: it can.
    static std::string obstacle(const registry::state::state_view&, const schemas::replay&);
    void report(schemas::commands::report_replay);
    void go_on_counting(const std::shared_ptr<counting>&);

    node::registry_node& x_registry;
    const registry::state::state_store& x_store;
    runtime::scheduler& x_scheduler;
    runtime::random_source& x_random;
    const delivery_history& x_history;
    delivery_sender& x_sender;
    std::uint64_t x_token = 0;
    bool x_is_look_planned = false;
    std::map<schemas::replay_id, run> x_runs;
};

}  // namespace herald::storage::deliveries
