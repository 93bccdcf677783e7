// The bounds of searches over many rows.
#pragma once

#include <cstddef>

namespace herald::limits {

constexpr std::size_t page_limit_max = 1'000;
constexpr std::size_t find_values_max = 100;  // in all predicates of a call, including those in IN lists
constexpr std::size_t find_answer_bytes_max = 8 * 1024 * 1024;  // of rows

}  // namespace herald::limits
