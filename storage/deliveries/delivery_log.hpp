// What became of deliveries: every attempt of the last 30 days, from the topic `attempts` (design.md §3).
//
// A database of its own beside the state: it is no part of apply, its rows come from workers and expire by
// themselves. Losing it loses history and nothing else.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "events/log/log.hpp"
#include "schemas/limits.hpp"
#include "schemas/webhooks.hpp"

namespace herald::storage::deliveries {

/// Deliveries of one event, by how far they are (each counts once, by its newest attempt).
struct delivery_counts {
    std::uint64_t pending = 0;
    std::uint64_t succeeded = 0;
    std::uint64_t dead = 0;
    std::uint64_t skipped = 0;  // the webhook was deleted
};

/// Reads the topic on a thread of its own. Any thread may ask. Shows what workers have said so far: an
/// attempt appears some milliseconds after it was made.
class delivery_log {
  public:
    using attempt_handler = std::function<void(const schemas::attempt&)>;

    virtual ~delivery_log() = default;

    virtual delivery_counts deliveries_of_event(std::string_view event_id) const = 0;
    /// Oldest first, at most limits::list_rows_max.
    virtual std::vector<schemas::attempt> attempts_of_delivery(std::string_view delivery_id) const = 0;
    /// Newest first, of attempts made before `before_ms`.
    virtual std::vector<schemas::attempt> attempts_of_webhook(schemas::webhook_id, std::int64_t before_ms,
                                                              std::size_t most) const = 0;

    /// `handler` is called once, on the log's thread, with the attempt that carries this call id; never when
    /// none comes. Register before the delivery is sent.
    virtual void wait_for(std::string call_id, attempt_handler handler) = 0;
    virtual void forget(std::string_view call_id) = 0;
    /// Every attempt that is read from now on, on the log's thread. Set once, before start().
    virtual void on_attempt(attempt_handler) = 0;
    /// Begins to read. Once.
    virtual void start() = 0;
};

/// Opens or makes the database in `folder`; one that is corrupt is emptied. It holds all its files open and
/// keeps no more than go into about `open_files_max`, the newest. Errors: unavailable when the folder cannot
/// be used; not_found when the topic does not exist.
result<std::shared_ptr<delivery_log>> make_delivery_log(const std::filesystem::path& folder,
                                                        events::log::partitioned_log&,
                                                        std::size_t open_files_max = 512);

}  // namespace herald::storage::deliveries
