// The log in memory and every fault that a real one has: for the simulation and for unit tests. The broker is
// the truth that all processes share; each process has a memory_log (memory_log.hpp) on it.
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

/// A member of a group, numbered by the order of joining; never used again.
using member_id = std::uint64_t;

/// Deterministic: the same calls give the same log. Thread-safe. May go before the logs on it.
class memory_broker {
  public:
    /// The clock stamps the records; it must outlive the broker and the logs on it.
    explicit memory_broker(const runtime::clock&);

    // ---- what is there

    std::vector<record> records(const topic_partition&) const;
    /// The group's committed offset and metadata; nothing when it never committed.
    std::optional<std::pair<std::int64_t, std::string>> committed(const std::string& group,
                                                                  const topic_partition&) const;

    // ---- what may happen to records

    /// Batches that were answered `unavailable` and have not landed (batch_fate::held), oldest first.
    std::size_t held() const;
    /// The held batch lands now, however long its producer has been gone.
    void release(std::size_t index);
    /// Retention: what is below `first` is gone.
    void trim(const topic_partition&, std::int64_t first);
    /// Truncation: what is at or above `next` is gone, and its offsets are given out again.
    void cut(const topic_partition&, std::int64_t next);
    /// Only the last record of each key stays, as far as it is below `below`.
    void compact(const topic_partition&, std::int64_t below = INT64_MAX);
    /// Appends and commits since the last append to a durable topic, over all partitions.
    std::size_t unsynced() const;
    /// The machine died: of those only the first `kept` remain.
    void lose_unsynced(std::size_t kept);
    void forget_commits(const std::string& group);

    // ---- what may happen to groups

    /// Off: partitions move only by rebalance(), move() and expel(). On at first: joining and leaving do it.
    void rebalance_by_itself(bool);
    /// Members that have not left, expelled ones too, by number.
    std::vector<member_id> members(const std::string& group) const;
    std::optional<member_id> owner(const std::string& group, const topic_partition&) const;
    /// Deals the partitions to the members that are not expelled, one by one in order of name and number.
    void rebalance(const std::string& group);
    /// Takes the partition from its owner (who lets go at its second poll from now: the first says so) and
    /// gives it to `to`, who may be the owner himself.
    void move(const std::string& group, const topic_partition&, member_id to);
    /// The group has not heard of the member for too long: its partitions and commits are void at once. It
    /// learns so when it polls, and joins again.
    void expel(const std::string& group, member_id);

  private:
    friend class memory_log;
    std::shared_ptr<memory_state> x_state;
};

}  // namespace herald::events::log::memory
