// Carries the outbox of the registry's state to the event topics, and the webhooks to `subscribers`.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "events/log/log.hpp"
#include "events/outbox.hpp"
#include "runtime/scheduler.hpp"
#include "schemas/nodes.hpp"

namespace herald::events {

/// Runs while this node holds the claim "publisher"; it does no harm if another node's publisher is still
/// running (design.md §2). Lives on the scheduler's thread; all calls but wake() come from there. Errors of
/// the log show only as delay: it retries for ever. publisher_machine decides; this class talks to the log.
class publisher {
  public:
    virtual ~publisher() = default;
    /// Publishes under the claim with this token (> 0). If already running with another token, starts afresh.
    virtual void start(std::uint64_t token) = 0;
    /// Releases the log. Unacknowledged appends may still be stored.
    virtual void stop() = 0;
    /// The state has something new to publish. Any thread; cheap.
    virtual void wake() = 0;
    /// The token of the claim that it runs under; 0 while it does not run.
    virtual std::uint64_t token() const = 0;
    /// For the heartbeat: how far the log certainly goes beyond the state.
    virtual std::vector<schemas::published_position> published() const = 0;
};

/// Not running at first. All three arguments must outlive it.
std::shared_ptr<publisher> make_publisher(log::partitioned_log&, const outbox&, runtime::scheduler&);

}  // namespace herald::events
