// triggerTest: a delivery sent the real way, and its one attempt (design.md §3).
#pragma once

#include <functional>
#include <memory>

#include "events/log/log.hpp"
#include "runtime/random.hpp"
#include "runtime/scheduler.hpp"
#include "schemas/webhooks.hpp"

namespace herald::storage::deliveries {

/// Callable on any thread. Handlers are called once, on any thread; they must not block.
class trigger_calls {
  public:
    using attempt_handler = std::function<void(result<schemas::attempt>)>;

    virtual ~trigger_calls() = default;
    /// Appends `what` to deliveries.direct as a test, with a new call id and a deadline, and waits for its
    /// attempt. Errors: deadline_exceeded after limits::test_deadline_ms (no worker took it, or the log was
    /// out of reach); invalid_argument when it is too large; resource_exhausted when too many calls are open.
    virtual void send(schemas::delivery what, attempt_handler) = 0;
    /// An attempt was made: the call that waits for it receives it.
    virtual void hear(const schemas::attempt&) = 0;
    /// Open calls get unavailable now, and so do all later ones.
    virtual void close() = 0;
};

/// `partitions`: the number for deliveries.direct. All arguments must outlive it.
std::shared_ptr<trigger_calls> make_trigger_calls(events::log::partitioned_log&, std::int32_t partitions,
                                                  runtime::scheduler&, runtime::random_source&);

}  // namespace herald::storage::deliveries
