// The bounds of engines.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::int64_t blocking_inference_look_ms = 50;  // between two looks whether somebody still waits
constexpr std::int64_t blocking_inference_ending_ms_max =
    500;                                                 // for a run that was ended at its deadline to say so
constexpr std::int64_t upstream_infer_ms_max = 600'000;  // of a request without an earlier deadline
constexpr std::size_t upstream_whole_answer_bytes_max = 64ull * 1024;  // longer ones are passed on in pieces
constexpr std::size_t upstream_retry_after_bytes_max = 32;
constexpr std::int64_t upstream_health_ms_max = 5'000;        // of one check
constexpr std::int64_t upstream_health_pause_ms = 1'000;      // between two, until the server is healthy
constexpr std::int64_t upstream_health_interval_ms = 10'000;  // between two, once it is loaded
constexpr std::int64_t upstream_load_ms_max = 600'000;        // until it must be healthy
constexpr std::size_t upstream_connections_max = 1'024;       // of one event loop
/// Of those, to one server: one that hangs leaves the others theirs.
constexpr std::size_t upstream_connections_to_one_max = upstream_connections_max / 4;
constexpr std::size_t upstream_idle_connections_max = 256;
static_assert(upstream_idle_connections_max < upstream_connections_max);
static_assert(upstream_health_ms_max < upstream_health_interval_ms, "a check ends before the next begins");

}  // namespace herald::limits
