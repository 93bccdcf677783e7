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

}  // namespace herald::limits
