// Reads what a partition holds now, or only its last records, and then is done.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "events/log/log.hpp"
#include "runtime/scheduler.hpp"

namespace herald::events::log {

/// Goes on until the owner lets go of it or `done` was called; both handlers run on the scheduler's thread,
/// and either may let go of the scan. Log and scheduler must outlive it.
class partition_scan {
  public:
    struct handlers {
        /// Each poll's records, in order; never called with none.
        std::function<void(const std::vector<record>&)> found;
        /// Once: whether the partition's first record was among them; or why it cannot be read (see log).
        std::function<void(result<bool> from_first)> done;
    };
    virtual ~partition_scan() = default;
};

/// Everything from the partition's first record on.
constexpr std::int64_t whole_partition = INT64_MAX;

/// Reads the last `offsets` offsets (> 0), as the partition's leader knows them at the start.
std::shared_ptr<partition_scan> scan_partition(partitioned_log&, runtime::scheduler&, topic_partition where,
                                               std::int64_t offsets, partition_scan::handlers);

}  // namespace herald::events::log
