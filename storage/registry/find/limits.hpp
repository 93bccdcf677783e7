// The bounds of searches over many rows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::size_t page_limit_max = 1'000;
constexpr std::size_t find_values_max = 100;  // in all predicates of a call, including those in IN lists
constexpr std::size_t find_answer_bytes_max = 8 * 1024 * 1024;  // of rows
constexpr std::int64_t find_ms_max = 10'000;
constexpr std::size_t find_rows_between_looks = 256;  // at the time

}  // namespace herald::limits
