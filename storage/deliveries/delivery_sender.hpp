// Sends deliveries again: records for workers on deliveries.direct and deliveries.replay.
#pragma once

#include <functional>
#include <memory>

#include "events/log/log.hpp"
#include "runtime/mutex.hpp"
#include "schemas/deliveries.hpp"

namespace herald::storage::deliveries {

/// A delivery of the event to the webhook, which has this revision. `known`: what the history knows of it;
/// null: nothing. Attempts that were made count on in svc-attempt; what waits for its next attempt is
/// attempted once beside its schedule.
schemas::delivery made_again(schemas::event, const schemas::webhook&, const schemas::delivery_row* known);

/// Any thread. `done` is called once, on any thread: an error means that the record may or may not be in the
/// log. All arguments must outlive it.
class delivery_sender {
  public:
    virtual ~delivery_sender() = default;
    using done_handler = std::function<void(result<void>)>;
    /// To deliveries.direct: attempted at once.
    virtual void resend(schemas::delivery, done_handler) = 0;
    /// To deliveries.replay: attempted when its lane has room beside live deliveries.
    virtual void replay(schemas::delivery, done_handler) = 0;
};

std::unique_ptr<delivery_sender> make_delivery_sender(events::log::partitioned_log&,
                                                      std::int32_t direct_partitions,
                                                      std::int32_t replay_partitions);

}  // namespace herald::storage::deliveries
