// The history of deliveries: every attempt of the last 30 days, as workers report them (design.md §3).
//
// A database separate from the state: apply does not know it, its rows come from workers and expire by
// themselves. If it is lost, only history is lost.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "events/log/log.hpp"
#include "runtime/error.hpp"
#include "schemas/webhooks.hpp"

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

/// Queries come from any thread; keep() from one thread at a time. Shows what workers have reported so far:
/// an attempt appears some milliseconds after it was made.
class delivery_history {
  public:
    virtual ~delivery_history() = default;

    virtual delivery_counts deliveries_of_event(std::string_view event_id) const = 0;
    /// The newest attempt of each of its deliveries that is over without having arrived.
    virtual std::vector<schemas::attempt> lost_deliveries_of_event(std::string_view event_id) const = 0;
    /// Oldest first, at most limits::list_rows_max.
    virtual std::vector<schemas::attempt> attempts_of_delivery(std::string_view delivery_id) const = 0;
    /// Newest first, of attempts made before `before_ms`.
    virtual std::vector<schemas::attempt> attempts_of_webhook(schemas::webhook_id, std::int64_t before_ms,
                                                              std::size_t most) const = 0;

    /// Stores what the partition holds before `next_offset`. Attempts that cannot be written (full disk) are
    /// missing from the history, and the log says so.
    virtual void keep(std::int32_t partition, const std::vector<placed_attempt>&,
                      std::uint64_t next_offset) = 0;
    /// The offset from which the partition is not stored yet; 0 when nothing of it is.
    virtual std::uint64_t next_offset(std::int32_t partition) const = 0;
};

/// Opens or creates the database in `folder`; a corrupt one is emptied. It keeps all its files open and, of
/// its content, only the newest that fits into about `open_files_max` files. Errors: unavailable when the
/// folder cannot be used.
result<std::unique_ptr<delivery_history>> open_delivery_history(const std::filesystem::path& folder,
                                                                std::size_t open_files_max = 512);

}  // namespace herald::storage::deliveries
