// The bounds of apply (design.md §1). Another value waits for a level (schemas/commands/level.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

/// A version that changes all of its labels leaves 256 lists and comes into 256 others, each with its count.
constexpr std::size_t mutations_per_command_max = 1'500;
constexpr std::size_t timers_per_apply_max = 32;
constexpr std::int64_t sender_clock_ahead_ms_max = 60'000;
constexpr std::int64_t log_time_ms_max = 253'402'300'799'999;  // the end of the year 9999

}  // namespace herald::limits
