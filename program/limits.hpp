// The bounds of a process as a whole.
#pragma once

#include <cstdint>

namespace herald::limits {

constexpr std::int64_t drain_answers_ms_max = 500;  // for the answers that then are left

}  // namespace herald::limits
