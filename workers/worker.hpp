// The worker: everything between the log and the receivers (design.md §3, delivery.md).
//
//   consumer ×4 ──record──► worker ──fan_out──► delivery_machine ──► lanes ──► transport ──► receiver
//     (events, direct, retry, waiting)           │   ▲ subscriber_table
//                                                └──► record_writer ──► waiting, retry.*, dead, attempts
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "events/log/log.hpp"
#include "events/subscriber_table.hpp"
#include "runtime/error.hpp"
#include "runtime/key_ring.hpp"
#include "runtime/random.hpp"
#include "runtime/readiness.hpp"
#include "runtime/scheduler.hpp"
#include "workers/backlog.hpp"
#include "workers/delivery_options.hpp"
#include "workers/transport.hpp"
#include "workers/worker_counters.hpp"

namespace herald::workers {

/// Everything here must outlive the worker. Only the worker sets the table's on_change().
struct worker_parts {
    events::log::partitioned_log& log;
    runtime::scheduler& scheduler;
    runtime::random_source& random;
    const runtime::key_ring& keys;
    events::subscriber_table& subscribers;
    workers::transport& transport;
};

struct worker_options : delivery_options {
    /// A consumer group cannot continue (an offset out of range, a topic gone): an alarm. Called on the
    /// scheduler's thread; the other groups continue.
    std::function<void(const error&)> on_failure = [](const error&) {};
};

/// Keeps nothing on disk: what it had in memory comes again from the log. Lives on the scheduler's thread,
/// where it is called and destroyed; consumes from the moment it is created. Destroying it without drain()
/// only causes repeats.
class worker {
  public:
    virtual ~worker() = default;
    /// Accepts nothing more; running attempts get up to `within_ms`, waiting deliveries go to a retry topic;
    /// then the worker commits, leaves its groups and calls `drained`, once. It must not be destroyed before
    /// that.
    virtual void drain(std::int64_t within_ms, std::function<void()> drained) = 0;
    /// Why nothing, or not everything, is being delivered now (design.md §1 "Trouble is told").
    virtual std::optional<runtime::trouble> trouble() const = 0;
    virtual const worker_counters& counters() const = 0;
    virtual worker_gauges gauges() const = 0;
    /// For each of its partitions, the offset below which everything is done.
    virtual events::log::partition_ends positions() const = 0;
    /// Partitions whose end is not given count as read to their end.
    virtual worker_backlog backlog(const events::log::partition_ends&) const = 0;
};

/// Asks the log for the topics' partition counts, so it may block as long as log::partitions(). Errors:
/// not_found when a topic is missing; unavailable.
result<std::unique_ptr<worker>> make_worker(worker_parts, worker_options);

}  // namespace herald::workers
