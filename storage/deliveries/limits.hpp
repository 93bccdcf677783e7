// The bounds of what a node keeps about deliveries.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::int64_t test_deadline_ms = 20'000;
constexpr std::size_t tests_in_flight_max = 256;
constexpr std::int64_t delivery_history_kept_ms = 30ll * 24 * 3'600'000;
constexpr std::uint64_t delivery_history_bytes_max = 4ull * 1024 * 1024 * 1024;  // the oldest go first
constexpr std::int64_t health_report_interval_ms = 60'000;                       // of one webhook
constexpr std::size_t health_webhooks_max = 100'000;
constexpr std::size_t health_reason_bytes_max = 256;
constexpr std::size_t lost_requests_max = 10'000;       // for scans, that are remembered at a time
constexpr std::size_t read_events_per_second_max = 10;  // of one webhook and node
constexpr std::size_t read_events_in_flight_max = 64;   // to the log
constexpr std::int64_t read_event_deadline_ms = 60'000;
constexpr std::int64_t read_listeners_kept_ms = 1'000;
constexpr std::size_t read_workspaces_max = 10'000;  // whose listeners are remembered

}  // namespace herald::limits
