// How far a partition is done: which of its records still have deliveries in memory, and what may be
// committed (design.md §3). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "runtime/limits.hpp"

namespace herald::workers {

/// Where a group goes on after a restart.
struct commit_point {
    std::int64_t next_offset = 0;
    std::string metadata;

    friend bool operator==(const commit_point&, const commit_point&) = default;
};

/// One assignment of one partition. Offsets ascend, with holes. Holds one small entry for each record from
/// the first that is not done: many more than deliveries, so that one attempt that hangs does not stop the
/// partition (P4). full() asks the caller to take no more.
class delivery_tracker {
  public:
    explicit delivery_tracker(std::int64_t next_offset) : x_next_offset(next_offset) {}

    /// A record was read. It is done after part_done() was called `parts` times; at once when there are none.
    /// `metadata` goes with the commit of everything up to and with this record.
    void opened(std::int64_t offset, std::size_t parts, std::string metadata);
    /// Needs an open record with parts left.
    void part_done(std::int64_t offset);

    bool full() const noexcept {
        return x_parts_open >= limits::worker_window_max ||
               x_entries.size() >= limits::worker_window_records_max;
    }
    std::size_t parts_open() const noexcept { return x_parts_open; }
    /// Everything below is done.
    std::int64_t next_offset() const noexcept {
        return x_entries.empty() ? x_next_offset : x_entries.front().offset;
    }
    /// True if take_commit() has something.
    bool advanced() const noexcept { return x_advanced; }
    /// The highest point below which all is done, once each time that it advances.
    std::optional<commit_point> take_commit();

  private:
    struct entry {
        std::int64_t offset = 0;
        std::size_t parts_open = 0;
        std::string metadata;
    };

    std::deque<entry> x_entries;  // ascending; the first is not done
    std::size_t x_parts_open = 0;
    std::int64_t x_next_offset;
    std::string x_metadata;
    bool x_advanced = false;
};

}  // namespace herald::workers
