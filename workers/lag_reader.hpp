// How far a worker is behind the ends of its partitions.
#pragma once

#include <set>
#include <string>

#include "events/log/log.hpp"
#include "runtime/lifetime.hpp"
#include "runtime/scheduler.hpp"

namespace herald::workers {

/// Asks the log for the ends, one question at a time, and shows herald_consumer_lag{topic}. Lives on the
/// scheduler's thread; log and scheduler must outlive it.
class lag_reader {
  public:
    using positions = events::log::partition_ends;

    lag_reader(events::log::partitioned_log& from, runtime::scheduler& scheduler)
        : x_log(from), x_scheduler(scheduler) {}

    /// Asks; everything below the given offsets is done. Does nothing while a question is open.
    void measure(positions);
    /// As last known; without the partitions whose leaders did not answer.
    const events::log::partition_ends& ends() const noexcept { return x_ends; }

  private:
    void show(const positions&) const;

    events::log::partitioned_log& x_log;
    runtime::scheduler& x_scheduler;
    events::log::partition_ends x_ends;
    std::set<std::string> x_topics;  // shown so far; those that are no longer ours stay, with 0
    bool x_is_asking = false;
    runtime::lifetime x_lifetime;
};

}  // namespace herald::workers
