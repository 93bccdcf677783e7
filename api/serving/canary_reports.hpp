// What this node counted of a canary's new component, told to the log at the end of each interval; there the
// counts of all nodes are summed up and decide (design.md §4).
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "api/serving/meters.hpp"
#include "runtime/clock.hpp"
#include "runtime/random.hpp"
#include "runtime/scheduler.hpp"
#include "storage/node/node.hpp"

namespace herald::api::serving {

/// An interval of an update that the log has begun.
struct canary_interval {
    schemas::update_id update;
    std::uint32_t number = 0;  // from 1
    std::int64_t ends_ms = 0;  // log time
};

/// Lives on the loop's thread, but for begin(). An interval's counts are taken when it has just
/// ended, so that the log judges it once it has those of all nodes; what comes after counts for the next.
class canary_reports final : public std::enable_shared_from_this<canary_reports> {
  public:
    /// All of them must outlive it.
    struct parts {
        storage::node::registry_node& registry;
        runtime::scheduler& loop;
        runtime::random_source& random;
        const runtime::clock& log_clock;  // its wall clock is the log's time
    };
    explicit canary_reports(const parts& with) : x_with(with) {}

    /// Any thread. Again with the same interval: nothing happens.
    void begin(const canary_interval&, const std::shared_ptr<canary_meter>& of);
    /// Nothing is told any more. On the loop.
    void end() {
        x_is_ending = true;
        x_running.clear();
    }

  private:
    struct running {
        std::weak_ptr<canary_meter> of;
        canary_interval interval;
        schemas::component_counts before;  // the sum when the interval's counting began
        bool is_told = false;
    };

    void begin_here(const canary_interval&, const std::shared_ptr<canary_meter>& of);
    void take(const canary_interval&);
    void send(const canary_interval&, const schemas::component_counts&);

    const parts x_with;
    std::map<schemas::update_id, running> x_running;
    bool x_is_ending = false;
};

}  // namespace herald::api::serving
