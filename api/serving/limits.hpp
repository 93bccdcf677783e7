// The bounds of serving.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::size_t model_loads_max = 2;  // at a time on a node: each takes a core, and memory twice
constexpr std::int64_t model_load_retry_ms_min = 1'000;  // after a failure; doubles
constexpr std::int64_t model_load_retry_ms_max = 60'000;
/// When no model was tried for so long, those that were not tried yet keep a node no longer from saying that
/// it is ready: their endpoints are 503 there.
constexpr std::int64_t model_load_awaited_ms = 120'000;
constexpr std::int64_t serving_look_ms = 20;         // while a node is not ready for predictions
constexpr std::int64_t copies_look_ms = 1'000;       // whether the disk is low, as the node does
constexpr std::int64_t copies_search_ms = 600'000;   // for those of builds that are gone
constexpr std::int64_t report_retry_ms = 1'000;      // of what the log did not take
constexpr std::int64_t canary_report_delay_ms = 20;  // after the end of an interval, by the node's clock
constexpr std::int64_t prediction_deadline_ms_default = 60'000;
constexpr std::uint64_t prediction_body_bytes_default = 16ull * 1024 * 1024;
constexpr std::uint32_t predictions_in_flight_default = 1'024;  // of an endpoint on a node

}  // namespace herald::limits
