// triggerTest: a delivery sent through the real path, and the one attempt that was made of it (design.md §3).
#pragma once

#include <functional>
#include <memory>

#include "events/log/log.hpp"
#include "runtime/random.hpp"
#include "runtime/scheduler.hpp"
#include "schemas/webhooks.hpp"

namespace herald::storage::deliveries {

/// Any thread. Handlers are called once, on any thread; they must not block.
class trigger_calls {
  public:
    using attempt_handler = std::function<void(result<schemas::attempt>)>;

    virtual ~trigger_calls() = default;
    /// Appends `what` to deliveries.direct as a test, with a new call id and a deadline, and waits for its
    /// attempt. Errors: deadline_exceeded after limits::test_deadline_ms (no worker took it, or the log is
    /// out of reach); invalid_argument when it is too large; resource_exhausted with too many under way.
    virtual void send(schemas::delivery what, attempt_handler) = 0;
    /// An attempt was made: whoever waits for it gets it.
    virtual void hear(const schemas::attempt&) = 0;
    /// Those under way get unavailable now, and all that come later.
    virtual void close() = 0;
};

/// `partitions`: of deliveries.direct. All must outlive it.
std::shared_ptr<trigger_calls> make_trigger_calls(events::log::partitioned_log&, std::int32_t partitions,
                                                  runtime::scheduler&, runtime::random_source&);

}  // namespace herald::storage::deliveries
