// The bounds of stored outcomes (design.md §1). Another value waits for a level (schemas/commands/level.hpp).
#pragma once

#include <cstdint>

namespace herald::limits {

constexpr std::int64_t outcome_kept_ms = 24 * 3'600'000;
constexpr std::uint64_t outcome_rows_max = 5'000'000;
constexpr std::uint64_t outcome_bytes_max = 4ull * 1024 * 1024 * 1024;  // of all stored outcomes together

}  // namespace herald::limits
