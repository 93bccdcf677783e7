// Carries the outbox of the registry's state to the event topics, and its webhooks to `subscribers`.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "events/log/log.hpp"
#include "events/outbox.hpp"
#include "runtime/scheduler.hpp"
#include "schemas/nodes.hpp"

namespace herald::events {

/// Runs while this node holds the claim "publisher"; that another one still runs does no harm (design.md §2).
/// Lives on the scheduler's thread, all calls but wake() from there. Errors of the log show only as delay: it
/// tries again for ever. publisher_machine decides, this class asks the log.
class publisher {
  public:
    virtual ~publisher() = default;
    /// Publishes under the claim with this token (> 0). A running one starts afresh when the token is
    /// another.
    virtual void start(std::uint64_t token) = 0;
    /// Lets go of the log. What was appended and is unacknowledged may still land.
    virtual void stop() = 0;
    /// The state has something new. Any thread; cheap.
    virtual void wake() = 0;
    /// Of the claim that it runs under; 0 when it does not run.
    virtual std::uint64_t token() const = 0;
    /// For the heartbeat: what is known to be in the log beyond what the state knows.
    virtual std::vector<schemas::published_position> published() const = 0;
};

/// Stopped at first. All three must outlive it.
std::shared_ptr<publisher> make_publisher(log::partitioned_log&, const outbox&, runtime::scheduler&);

}  // namespace herald::events
