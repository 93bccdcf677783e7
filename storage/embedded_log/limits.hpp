// The bounds of the embedded log and of its clock (design.md §1 "Time").
#pragma once

#include <cstdint>

namespace herald::limits {

constexpr std::int64_t log_clock_leap_ms_max = 30ll * 24 * 3'600'000;  // at a start, unless it is accepted
constexpr std::int64_t log_clock_leap_held_ms =
    24 * 3'600'000;                                       // after a leap of more, nothing expires for so long
constexpr std::int64_t log_clock_off_ms_max = 3'600'000;  // beyond, an alarm

}  // namespace herald::limits
