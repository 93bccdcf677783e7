// Reads what a partition holds now, or only its last records, and then stops.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "events/log/tail.hpp"

namespace herald::events::log {

/// Everything from the partition's first record on.
inline constexpr std::int64_t whole_partition = INT64_MAX;

/// Reads the last `offsets` offsets (> 0) that the partition's leader reports at the start. Runs until it is
/// destroyed or has called `done`, which may destroy it. Lives on the scheduler's thread, where its handlers
/// run; log and scheduler must outlive it.
class partition_scan {
  public:
    struct handlers {
        /// The records of each poll, in order; never empty.
        std::function<void(const std::vector<record>&)> found;
        /// Called once: whether the partition's first record was among them, or why it cannot be read (see
        /// log).
        std::function<void(result<bool> from_first)> done;
    };

    partition_scan(partitioned_log&, runtime::scheduler&, topic_partition where, std::int64_t offsets,
                   handlers);

  private:
    std::int64_t begin(const offset_range&);
    void take(const read_batch&);
    void failed(const error&);
    void finish(result<bool> outcome);

    const std::int64_t x_offsets;
    handlers x_handlers;
    bool x_has_begun = false;
    offset_range x_range;
    std::int64_t x_from = 0;
    std::optional<tail> x_tail;  // present until it is done
};

}  // namespace herald::events::log
