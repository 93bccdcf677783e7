// The bounds of the embedded log and of its clock (design.md §1 "Time").
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::int64_t log_clock_leap_ms_max = 30ll * 24 * 3'600'000;  // at a start, unless accepted
constexpr std::int64_t log_clock_leap_held_ms =
    24 * 3'600'000;                                       // after a longer leap nothing expires for this long
constexpr std::int64_t log_clock_off_ms_max = 3'600'000;  // beyond this, an alarm
constexpr std::size_t log_batch_records_max = 4'096;
constexpr std::size_t log_batch_bytes_max = 4 * 1024 * 1024;
constexpr std::size_t log_read_bytes_max = 4 * 1024 * 1024;  // per read(); a single record may be larger
constexpr std::size_t log_expired_per_round_max = 100'000;
constexpr std::size_t log_erased_per_write_max = 1'000;

static_assert(log_clock_off_ms_max < log_clock_leap_ms_max, "the alarm comes before the refusal");

}  // namespace herald::limits
