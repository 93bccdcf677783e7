// How far a worker is behind the ends of its partitions.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "events/log/log.hpp"
#include "runtime/lifetime.hpp"
#include "runtime/scheduler.hpp"

namespace herald::workers {

/// Asks the leaders for the ends one by one, so that it never has more than one open question when the log is
/// out of reach; updates herald_consumer_lag{topic} when all have been asked. Lives on the scheduler's
/// thread; log and scheduler must outlive it.
class lag_reader {
  public:
    using positions = std::map<events::log::topic_partition, std::int64_t>;

    lag_reader(events::log::partitioned_log& from, runtime::scheduler& scheduler)
        : x_log(from), x_scheduler(scheduler) {}

    /// Starts a round; everything below the given offsets is done. Does nothing while a round is running.
    void measure(positions);

  private:
    void ask();
    void show();

    events::log::partitioned_log& x_log;
    runtime::scheduler& x_scheduler;
    positions x_left;                            // left in this round; the first is being asked
    std::map<std::string, std::int64_t> x_lags;  // by topic; topics that are no longer ours stay, with 0
    runtime::lifetime x_lifetime;
};

}  // namespace herald::workers
