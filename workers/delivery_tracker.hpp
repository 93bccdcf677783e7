// How far a partition is done: which of its records still have deliveries in memory, and what may be
// committed (design.md §3). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "workers/limits.hpp"

namespace herald::workers {

/// Where a group resumes after a restart. The metadata says what is done beyond `next_offset`, as far as it
/// fits: one slow receiver holds the offset back, but deliveries that other receivers already have are not
/// sent to them again.
struct commit_point {
    std::int64_t next_offset = 0;
    std::string metadata;

    friend bool operator==(const commit_point&, const commit_point&) = default;
};

/// The meaning of a commit point: everything below `known_until` is done except these parts of records.
/// `position` is the text given with the record before `known_until`.
struct progress {
    std::int64_t known_until = 0;
    std::map<std::int64_t, std::vector<std::size_t>> open;  // by offset
    std::string position;
};
/// A text not written by a tracker is taken for a position.
progress read_progress(const commit_point&);

/// One assignment of one partition. Offsets ascend, with holes. Holds one small entry for each record from
/// the first unfinished one: far more than deliveries, so that one hanging attempt does not stop the
/// partition (P4). full() tells the caller to take no more.
class delivery_tracker {
  public:
    /// Continues from another tracker's commit point.
    explicit delivery_tracker(const commit_point&);

    /// The position of the last record already known when this assignment began.
    const std::string& first_position() const noexcept { return x_before.position; }
    /// Which of the `parts` parts of the record at this offset are not known to be done. To be called before
    /// the record is opened.
    std::vector<std::size_t> parts_left(std::int64_t offset, std::size_t parts) const;
    /// True for a record that was read before this assignment began.
    bool had(std::int64_t offset) const noexcept { return offset < x_before.known_until; }
    /// A record was read. It is done after part_done() for each part, or at once when there are none.
    void opened(std::int64_t offset, const std::vector<std::size_t>& parts, std::string position);
    /// The record must be open, and so must this part.
    void part_done(std::int64_t offset, std::size_t part);

    bool full() const noexcept {
        return x_parts_open >= limits::worker_window_max ||
               x_entries.size() >= limits::worker_window_records_max;
    }
    std::size_t parts_open() const noexcept { return x_parts_open; }
    /// Everything below this is done.
    std::int64_t next_offset() const noexcept {
        return x_entries.empty() ? x_next_offset : x_entries.front().offset;
    }
    /// Everything below this was read.
    std::int64_t read_until() const noexcept { return x_read_until; }
    /// True if something was added since the last commit.
    bool advanced() const noexcept { return x_has_advanced; }
    /// What is done by now; empty if nothing was added since the last one, or if less would be known after it
    /// than before: what was known at the beginning, and was not read again, has no room in it.
    std::optional<commit_point> take_commit();

  private:
    struct entry {
        std::int64_t offset = 0;
        std::vector<std::size_t> open;  // few; in any order
        std::string position;
    };

    progress x_before;
    std::deque<entry> x_entries;  // ascending; the first is unfinished
    std::size_t x_parts_open = 0;
    std::int64_t x_next_offset;
    std::int64_t x_read_until;
    std::string x_position;  // of the record before the first entry
    bool x_has_advanced = false;
};

}  // namespace herald::workers
