// Appends many records in order and waits for them, for an operator's command.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "events/log/log.hpp"
#include "runtime/mutex.hpp"

namespace herald::storage::backup {

/// Keeps at most limits::restore_appends_in_flight_max unacknowledged. The first error ends it. One thread.
class log_appender {
  public:
    explicit log_appender(events::log::partitioned_log& to)
        : x_producer(to.open_producer(events::log::producer_kind::ordinary)),
          x_shared(std::make_shared<shared>()) {}

    /// Blocks while too many are unacknowledged. Errors: the first of those appended so far.
    result<void> append(const events::log::topic_partition&, std::string key, std::string value);
    /// Waits until all are acknowledged.
    result<void> finish() { return wait_below(1); }

  private:
    struct shared {
        runtime::mutex mutex;
        runtime::condition_variable changed;
        std::size_t in_flight GUARDED_BY(mutex) = 0;
        std::optional<error> failure GUARDED_BY(mutex);
    };

    /// Until fewer than this many are in flight.
    result<void> wait_below(std::size_t count);

    const std::unique_ptr<events::log::producer> x_producer;
    const std::shared_ptr<shared> x_shared;
};

}  // namespace herald::storage::backup
