// What a worker counts, as which metrics it is shown, and what it has now; shown by workers/metrics.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "runtime/metric_names.hpp"
#include "schemas/ids.hpp"

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
    std::uint64_t dropped = 0;             // READ events: too late, or no room
    std::uint64_t held = 0;                // the webhook was disabled
    std::uint64_t retried = 0;             // sent to a retry topic after an attempt
    std::uint64_t spilled = 0;             // sent to `waiting` or a retry topic without one
    std::uint64_t own_shortages = 0;       // attempts for which Herald lacked descriptors or memory
    std::uint64_t hops = 0;                // from one retry topic to the next within the same wait
    std::uint64_t dead = 0;
    std::uint64_t appends_repeated = 0;      // appends that failed and were repeated
    std::uint64_t attempt_records_lost = 0;  // dropped: the history lacks them
    std::uint64_t group_changes = 0;         // that gave this worker partitions or took some
};

/// The metric of a counter.
struct worker_counter_shown {
    std::uint64_t worker_counters::*of;
    runtime::metric_name name;
    std::string_view result{};  // a label; empty: none
};
inline constexpr std::array worker_counters_shown{
    worker_counter_shown{&worker_counters::events, runtime::metrics::worker_events},
    worker_counter_shown{&worker_counters::events_repeated, runtime::metrics::worker_events_repeated},
    worker_counter_shown{&worker_counters::sequence_gaps, runtime::metrics::worker_sequence_gaps},
    worker_counter_shown{&worker_counters::unreadable, runtime::metrics::worker_unreadable},
    worker_counter_shown{&worker_counters::deliveries, runtime::metrics::worker_deliveries},
    worker_counter_shown{&worker_counters::attempts_succeeded, runtime::metrics::worker_attempts,
                         "succeeded"},
    worker_counter_shown{&worker_counters::attempts_failed, runtime::metrics::worker_attempts, "failed"},
    worker_counter_shown{&worker_counters::attempts_cancelled, runtime::metrics::worker_attempts,
                         "cancelled"},
    worker_counter_shown{&worker_counters::skipped, runtime::metrics::worker_skipped},
    worker_counter_shown{&worker_counters::dropped, runtime::metrics::worker_dropped},
    worker_counter_shown{&worker_counters::held, runtime::metrics::worker_held},
    worker_counter_shown{&worker_counters::retried, runtime::metrics::worker_retried},
    worker_counter_shown{&worker_counters::spilled, runtime::metrics::worker_spilled},
    worker_counter_shown{&worker_counters::own_shortages, runtime::metrics::worker_own_shortages},
    worker_counter_shown{&worker_counters::hops, runtime::metrics::worker_hops},
    worker_counter_shown{&worker_counters::dead, runtime::metrics::worker_dead},
    worker_counter_shown{&worker_counters::appends_repeated, runtime::metrics::worker_appends_repeated},
    worker_counter_shown{&worker_counters::attempt_records_lost,
                         runtime::metrics::worker_attempt_records_lost},
    worker_counter_shown{&worker_counters::group_changes, runtime::metrics::group_changes},
};
static_assert(worker_counters_shown.size() * sizeof(std::uint64_t) == sizeof(worker_counters),
              "each counter is shown");

/// As they are now.
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
    struct of_webhook {
        std::uint64_t deliveries = 0;
        std::int64_t oldest_ms = INT64_MAX;  // log time of its event
    };
    std::map<schemas::webhook_id, of_webhook> webhooks;  // with deliveries in memory
    std::vector<schemas::webhook_id> webhooks_with_open_breaker;
};

}  // namespace herald::workers
