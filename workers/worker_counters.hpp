// What a worker counts, for metrics.
#pragma once

#include <cstdint>

namespace herald::workers {

/// Counted since the worker's start; they only grow.
struct worker_counters {
    std::uint64_t events = 0;           // accepted
    std::uint64_t events_repeated = 0;  // dropped: already had
    std::uint64_t sequence_gaps = 0;    // events after a gap: an alarm
    std::uint64_t unreadable = 0;       // records that do not fit their topic: an alarm
    std::uint64_t deliveries = 0;       // that entered memory, from any topic
    std::uint64_t attempts_succeeded = 0;
    std::uint64_t attempts_failed = 0;
    std::uint64_t attempts_cancelled = 0;  // their partition went to another worker
    std::uint64_t skipped = 0;             // the webhook was deleted, or a test came too late
    std::uint64_t held = 0;                // the webhook was disabled
    std::uint64_t retried = 0;             // sent to a retry topic after an attempt
    std::uint64_t spilled = 0;             // sent to `waiting` or a retry topic without one
    std::uint64_t own_shortages = 0;       // attempts for which Herald lacked descriptors or memory
    std::uint64_t hops = 0;                // from one retry topic to the next within the same wait
    std::uint64_t dead = 0;
    std::uint64_t appends_repeated = 0;      // appends that failed and were repeated
    std::uint64_t attempt_records_lost = 0;  // dropped: the history lacks them
};

/// Current values.
struct worker_gauges {
    std::uint64_t deliveries_in_memory = 0;
    std::uint64_t attempts_in_flight = 0;
    std::uint64_t lanes_waiting = 0;  // deliveries waiting in their lane
    std::uint64_t breakers_open = 0;
    std::uint64_t partitions = 0;
    std::uint64_t waiting_for_row = 0;   // or for another attempt of the same delivery
    std::uint64_t writing = 0;           // to a retry topic or `dead`
    std::uint64_t read_ahead_bytes = 0;  // of records read but not taken: not due, or no room
    std::int64_t oldest_ms = INT64_MAX;  // log time of the delivery that has waited longest
    std::int64_t log_ms = 0;             // the log's time now
};

}  // namespace herald::workers
