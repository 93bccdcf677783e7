// triggerTest: a delivery sent through the real path, and the one attempt that was made of it (design.md §3).
#pragma once

#include <functional>
#include <memory>

#include "events/log/log.hpp"
#include "runtime/random.hpp"
#include "runtime/scheduler.hpp"
#include "schemas/webhooks.hpp"
#include "storage/deliveries/limits.hpp"

namespace herald::storage::deliveries {

class delivery_log;

/// Any thread. Handlers are called once, on any thread; they must not block.
class test_deliveries {
  public:
    using attempt_handler = std::function<void(result<schemas::attempt>)>;

    virtual ~test_deliveries() = default;
    /// Appends `what` to deliveries.direct as a test, with a new call id and a deadline, and waits for its
    /// attempt. Errors: deadline_exceeded after limits::test_deadline_ms (no worker took it, or the log is
    /// out of reach); invalid_argument when it is too large; resource_exhausted with too many under way.
    virtual void send(schemas::delivery what, attempt_handler) = 0;
    /// Those under way get unavailable now, and all that come later.
    virtual void close() = 0;
};

/// All must outlive it. Blocks up to 5 s. Errors: those of events::log::partitions.
result<std::shared_ptr<test_deliveries>> make_test_deliveries(events::log::partitioned_log&, delivery_log&,
                                                              runtime::scheduler&, runtime::random_source&);

}  // namespace herald::storage::deliveries
