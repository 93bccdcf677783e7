// Reads the workers' reports of their attempts: the topic `attempts`.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "events/log/tail.hpp"
#include "runtime/lasting_trouble.hpp"
#include "runtime/log_events.hpp"
#include "schemas/webhooks.hpp"
#include "storage/deliveries/delivery_history.hpp"

namespace herald::storage::deliveries {

/// Hands every attempt to the history and then, once, to each listener. Resumes where the history ends, or at
/// the partition's first record if the log no longer has that place. A partition that cannot be read delays
/// no other. Lives on the scheduler's thread, which waits for the disk, so it needs a loop of its own. All
/// arguments must outlive it.
class attempts_reader {
  public:
    using listener = std::function<void(const schemas::attempt&)>;

    attempts_reader(events::log::partitioned_log&, std::int32_t partitions, runtime::scheduler&,
                    delivery_history&, std::vector<listener>);

    /// Whether the end of each partition has been reached once.
    bool has_reached_ends() const noexcept { return x_ends_missing == 0; }

  private:
    struct partition {
        std::int32_t number = 0;
        std::int64_t next = 0;
        bool has_gap = false;  // what came before the next record was not read
        bool has_reached_end = false;
        std::optional<events::log::tail> records;
    };

    std::int64_t begin(partition&, const events::log::offset_range&);
    void take(partition&, const events::log::read_batch&);

    runtime::lasting_trouble x_trouble{{.event = runtime::log_events::delivery_history_trouble,
                                        .over = runtime::log_events::delivery_history_recovered,
                                        .part = "partition"}};
    delivery_history& x_history;
    const std::vector<listener> x_listeners;
    std::deque<partition> x_partitions;
    std::size_t x_ends_missing = 0;
};

}  // namespace herald::storage::deliveries
