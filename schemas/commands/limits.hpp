// The bounds of commands and of nodes' heartbeats (design.md §1). Of claims and rows apply decides: another
// value waits for a level (level.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::size_t command_bytes_max = 512 * 1024;
constexpr std::int64_t not_after_ms = 120'000;
constexpr std::int64_t claim_lapse_ms = 10'000;
constexpr std::int64_t node_row_kept_ms = 24ll * 3'600'000;          // since its last heartbeat
constexpr std::uint32_t webhook_failing_attempts_min = 10;           // before others are told
constexpr std::int64_t webhook_failing_span_ms_min = 10ll * 60'000;  // likewise
constexpr std::int64_t webhook_disable_span_ms_min = 12ll * 3'600'000;

}  // namespace herald::limits
