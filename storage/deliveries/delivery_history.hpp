// The history of deliveries: what became of each in the last 30 days, with its attempts, as workers report
// them (design.md §3, wire.md §7 "Deliveries").
//
// A database separate from the state: apply does not know it, its rows come from workers and expire by
// themselves. If it is lost, only history is lost.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/log/log.hpp"
#include "runtime/error.hpp"
#include "schemas/deliveries.hpp"

namespace herald::storage::deliveries {

/// Deliveries of one event by their progress; each counts once, by its newest attempt.
struct delivery_counts {
    std::uint64_t pending = 0;
    std::uint64_t succeeded = 0;
    std::uint64_t dead = 0;
    std::uint64_t skipped = 0;  // the webhook was deleted
};

/// An attempt and its place in its partition of `attempts`.
struct placed_attempt {
    std::uint64_t offset = 0;
    schemas::attempt made;
};

using schemas::delivery_filter;

bool matches(const delivery_filter&, const schemas::delivery_row&);

/// Where a row stands in lists: the newest event first, then by id.
struct delivery_place {
    std::int64_t time_event_ms = 0;
    std::string id;
};
delivery_place place_of(const schemas::delivery_row&);
bool is_before(const delivery_place&, const delivery_place&);

using delivery_judge = std::function<bool(const schemas::delivery_row&)>;

struct delivery_question {
    delivery_filter filter;
    std::optional<delivery_place> after;
    std::size_t rows_max = 0;
    bool is_counted = true;  // otherwise total is 0
    /// Whether the caller may see the row. Empty: all of them; then counters and indexes answer alone.
    delivery_judge may_see;
};

struct delivery_page {
    std::vector<schemas::delivery_row> rows;
    std::optional<delivery_place> next;  // empty: there are no more
    std::uint64_t total = 0;
    bool total_is_at_least = false;
};

struct histogram_question {
    delivery_filter filter;
    std::size_t steps = 0;  // since_ms and until_ms are set
    delivery_judge may_see;
};
struct histogram_step {
    std::int64_t from_ms = 0;
    std::array<std::uint64_t, 5> of_state{};  // by delivery_state
};
struct delivery_histogram {
    std::vector<histogram_step> steps;
    bool is_partial = false;
};

struct dead_group {
    schemas::webhook_id webhook_id;
    schemas::delivery_error error{};
    std::uint16_t status = 0;
    std::uint64_t count = 0;
    std::int64_t first_ms = 0;  // of the events
    std::int64_t last_ms = 0;
    std::string example;  // the newest delivery
};
struct dead_groups {
    std::vector<dead_group> groups;
    bool is_partial = false;
};

/// A webhook's attempts in the last 24 hours, and its deliveries by state.
struct webhook_record {
    std::vector<schemas::recent_attempt> recent;  // the newest first
    std::uint64_t succeeded = 0;
    std::uint64_t failed = 0;
    std::uint64_t p95_us = 0;  // 0: no attempt
    std::uint64_t waiting = 0;
    std::int64_t oldest_waiting_ms = 0;  // of the event; 0: none
    std::uint64_t dead = 0;
    std::uint64_t held = 0;
};

struct attempt_in_full {
    schemas::attempt made;
    bool has_bodies = false;  // they are kept
};

/// Queries come from any thread; keep() and expect() from one thread at a time. Shows what workers have
/// reported so far: an attempt appears some milliseconds after it was made.
class delivery_history {
  public:
    virtual ~delivery_history() = default;

    virtual delivery_counts deliveries_of_event(std::string_view event_id) const = 0;
    /// The newest attempt of each of its deliveries that is over without having arrived; without bodies.
    virtual std::vector<schemas::attempt> lost_deliveries_of_event(std::string_view event_id) const = 0;
    virtual std::vector<schemas::delivery_row> rows_of_event(std::string_view event_id) const = 0;
    virtual std::optional<schemas::delivery_row> find(std::string_view delivery_id) const = 0;
    /// Oldest first, at most limits::list_rows_max.
    virtual std::vector<attempt_in_full> attempts_of_delivery(std::string_view delivery_id) const = 0;
    virtual delivery_page list(const delivery_question&) const = 0;
    virtual delivery_histogram histogram(const histogram_question&) const = 0;
    /// At most limits::dead_groups_max, those with the newest event first.
    virtual dead_groups groups_of_dead(schemas::workspace_id, const delivery_judge& may_see) const = 0;
    virtual webhook_record record_of(schemas::workspace_id, schemas::webhook_id,
                                     std::int64_t now_ms) const = 0;
    virtual schemas::replay_outcomes outcomes_of_replay(std::uint64_t replay) const = 0;
    /// Since when nothing is missing; 0: since the log began.
    virtual std::int64_t complete_from_ms() const = 0;
    /// Of the oldest attempt that has them; 0: there is none.
    virtual std::int64_t bodies_kept_from_ms() const = 0;

    /// Stores what the partition holds before `next_offset`. Attempts that cannot be written (full disk) are
    /// missing from the history, and the log says so.
    virtual void keep(std::int32_t partition, const std::vector<placed_attempt>&,
                      std::uint64_t next_offset) = 0;
    /// The offset from which the partition is not stored yet; 0 when nothing of it is.
    virtual std::uint64_t next_offset(std::int32_t partition) const = 0;
    /// Attempts before this time were not read.
    virtual void lacks_before(std::int64_t time_ms) = 0;
    /// Deliveries that wait for their first attempt, unless they are known: of the events of an output
    /// partition before `next_sequence`.
    virtual void expect(const events::log::topic_partition&, const std::vector<schemas::delivery_row>&,
                        std::uint64_t next_sequence) = 0;
    /// 1 when none was looked at.
    virtual std::uint64_t next_expected(const events::log::topic_partition&) const = 0;
};

/// Opens or creates the database in `folder`; a corrupt one is emptied. Of headers and bodies it keeps only
/// the newest that fit into about `open_files_max` files. Errors: unavailable when the folder cannot be used.
result<std::unique_ptr<delivery_history>> open_delivery_history(const std::filesystem::path& folder,
                                                                std::size_t open_files_max = 512);

}  // namespace herald::storage::deliveries
