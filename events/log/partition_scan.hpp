// Reads what a partition holds now, or only its last records, and then is done.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "events/log/tail.hpp"

namespace herald::events::log {

/// Everything from the partition's first record on.
inline constexpr std::int64_t whole_partition = INT64_MAX;

/// Reads the last `offsets` offsets (> 0), as the partition's leader knows them at the start. Goes on until
/// it is destroyed or `done` was called, which may destroy it. Lives on the scheduler's thread, as its
/// handlers do; log and scheduler must outlive it.
class partition_scan {
  public:
    struct handlers {
        /// Each poll's records, in order; never called with none.
        std::function<void(const std::vector<record>&)> found;
        /// Once: whether the partition's first record was among them; or why it cannot be read (see log).
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
    std::optional<tail> x_tail;  // until it is done
};

}  // namespace herald::events::log
