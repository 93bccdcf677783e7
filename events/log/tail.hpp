// Follows one partition, for owners that live on a scheduler.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "events/log/log.hpp"
#include "runtime/scheduler.hpp"

namespace herald::events::log {

/// When the partition's leader is asked for its range.
enum class asks_leader : std::uint8_t { to_open, every_second };

/// Asks the partition's leader for its range, opens a reader where the owner wants to begin, and polls it
/// when it rings, plus once a second in case the log forgets to ring. Asks again within a second when a
/// question gets no answer or a reader ends. A member of its owner; created and destroyed on the scheduler's
/// thread or while the scheduler is not running. Handlers run on the scheduler's thread and may destroy it.
/// Log and scheduler must outlive it.
class tail {
  public:
    struct handlers {
        /// The offset to begin at, given the leader's present range. Called for each new reader.
        std::function<std::int64_t(const offset_range&)> begin;
        /// What a poll found: records, or the end, or both.
        std::function<void(const read_batch&)> found;
        /// Why nothing can be read now: an error from reader::poll or query_range.
        std::function<void(const error&)> failed;
    };

    tail(partitioned_log&, runtime::scheduler&, topic_partition, handlers,
         asks_leader = asks_leader::to_open);
    ~tail();
    tail(const tail&) = delete;
    tail& operator=(const tail&) = delete;

    /// Steady time of the newest question that the leader answered; 0 before the first.
    std::int64_t leader_heard_ms() const noexcept;

  private:
    struct state;
    std::shared_ptr<state> x_state;
};

}  // namespace herald::events::log
