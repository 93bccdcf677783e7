// The log in memory, with every fault that a real one has: for the simulation and for unit tests. The broker
// is the truth that all processes share; each process reaches it through a memory_log (memory_log.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "events/log/log.hpp"
#include "runtime/clock.hpp"

namespace herald::events::log::memory {

struct memory_state;

/// A member of a group, numbered in the order of joining; numbers are never reused.
using member_id = std::uint64_t;

/// Deterministic: the same calls give the same log. Thread-safe. May be destroyed before the logs on it.
class memory_broker {
  public:
    /// The clock stamps the records; it must outlive the broker and the logs on it.
    explicit memory_broker(const runtime::clock&);

    // ---- what is there

    std::vector<record> records(const topic_partition&) const;
    /// The group's committed offset and metadata; empty when it never committed.
    std::optional<std::pair<std::int64_t, std::string>> committed(const std::string& group,
                                                                  const topic_partition&) const;

    // ---- what may happen to records

    /// Number of batches answered `unavailable` and not stored yet (batch_fate::held); index 0 is the oldest.
    std::size_t held() const;
    /// Stores the held batch now, even if its producer is long gone.
    void release(std::size_t index);
    /// Retention: removes everything below `first`.
    void trim(const topic_partition&, std::int64_t first);
    /// Truncation: removes everything at or above `next`; its offsets are used again.
    void cut(const topic_partition&, std::int64_t next);
    /// Keeps only the last record of each key among those below `below`.
    void compact(const topic_partition&, std::int64_t below = INT64_MAX);
    /// Appends and commits since the last append to a durable topic, over all partitions.
    std::size_t unsynced() const;
    /// The machine died: only the first `kept` of those remain.
    void lose_unsynced(std::size_t kept);
    void forget_commits(const std::string& group);

    // ---- what may happen to groups

    /// Off: partitions move only by rebalance(), move() and expel(). On (the initial state): joining and
    /// leaving move them.
    void rebalance_by_itself(bool);
    /// Members that have not left, including expelled ones, in order of number.
    std::vector<member_id> members(const std::string& group) const;
    std::optional<member_id> owner(const std::string& group, const topic_partition&) const;
    /// Deals the partitions, in order of name and number, one at a time to the members that are not expelled.
    void rebalance(const std::string& group);
    /// Takes the partition from its owner and gives it to `to`, which may be the same member. The owner's
    /// next poll tells it to release the partition.
    void move(const std::string& group, const topic_partition&, member_id to);
    /// The group has not heard from the member for too long: its partitions and commits are void at once. The
    /// member learns of it at its next poll, and joins again.
    void expel(const std::string& group, member_id);

  private:
    friend class memory_log;
    std::shared_ptr<memory_state> x_state;
};

}  // namespace herald::events::log::memory
