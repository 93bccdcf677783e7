// Reads that see every write answered before them, on any node (design.md §1 "Reads").
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "events/log/log.hpp"
#include "runtime/metrics.hpp"
#include "runtime/mutex.hpp"
#include "runtime/scheduler.hpp"
#include "storage/node/command_gateway.hpp"
#include "storage/node/node.hpp"
#include "storage/node/replica.hpp"

namespace herald::storage::node {

/// A read waits until this node has applied everything that the log held when the read arrived. One question
/// to the log is open at a time; reads that arrive meanwhile share the next one. If no own heartbeat came
/// through lately, the log's leader may have been deposed without knowing it: then the question is a no-op,
/// appended and waited for. Thread-safe.
class read_barrier : public std::enable_shared_from_this<read_barrier> {
  public:
    struct parts {
        events::log::partitioned_log& log;
        std::shared_ptr<const replica> state;
        runtime::scheduler& scheduler;
        std::shared_ptr<command_gateway> gateway;
        bool always_appends = false;  // read_mode::log
    };
    explicit read_barrier(parts with) : x_parts(std::move(with)) {}

    void read(registry_node::reading_handler);
    /// The replica has applied everything below `next_offset`.
    void applied(std::uint64_t next_offset);
    /// A heartbeat that this node sent at that steady time is in the log.
    void heartbeat_arrived(std::int64_t sent_ms) { x_heartbeat_sent_ms = sent_ms; }

    static registry_node::reading reading_of(const applied_state&, bool stale);

  private:
    struct waiting_read {
        registry_node::reading_handler handler;
        std::int64_t deadline_ms = 0;
    };
    using reads = std::vector<waiting_read>;

    void ask();
    void answered(const result<std::uint64_t>& next_offset);
    void watch();
    void expire();
    void answer(reads&, bool stale) const;

    const parts x_parts;
    std::atomic<std::int64_t> x_heartbeat_sent_ms = INT64_MIN / 2;
    runtime::mutex x_mutex;
    std::uint64_t x_applied GUARDED_BY(x_mutex) = 0;
    reads x_unasked GUARDED_BY(x_mutex);  // will share the next question
    reads x_asked GUARDED_BY(x_mutex);    // wait for the answer to the open question
    std::multimap<std::uint64_t, waiting_read> x_by_offset GUARDED_BY(x_mutex);  // wait until that is applied
    bool x_is_asking GUARDED_BY(x_mutex) = false;
    bool x_is_watched GUARDED_BY(x_mutex) = false;
    runtime::counter& x_stale_reads = runtime::metric_counter(runtime::metrics::stale_reads);
};

}  // namespace herald::storage::node
