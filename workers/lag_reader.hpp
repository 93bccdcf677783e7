// How far a worker is behind the ends of its partitions.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "events/log/log.hpp"
#include "runtime/lifetime.hpp"
#include "runtime/scheduler.hpp"

namespace herald::workers {

/// Asks the leaders for the ends one after the other, so that a log out of reach never has more than one
/// question open; shown as herald_consumer_lag{topic} when all were asked. Lives on the scheduler's thread;
/// log and scheduler must outlive it.
class lag_reader {
  public:
    using positions = std::map<events::log::topic_partition, std::int64_t>;

    lag_reader(events::log::partitioned_log& from, runtime::scheduler& scheduler)
        : x_log(from), x_scheduler(scheduler) {}

    /// Everything below these offsets is done. Nothing happens while a round is under way.
    void measure(positions);

  private:
    void ask();
    void show();

    events::log::partitioned_log& x_log;
    runtime::scheduler& x_scheduler;
    positions x_left;                            // of this round; the first is being asked
    std::map<std::string, std::int64_t> x_lags;  // by topic; those that are no longer ours stay, with 0
    runtime::lifetime x_lifetime;
};

}  // namespace herald::workers
