// The bounds of the service.
#pragma once

#include <cstdint>

namespace herald::limits {

constexpr std::int64_t turn_wait_ms_max = 10'000;  // of a find, for the same user's previous one

constexpr std::int64_t between_refusal_lines_ms = 1'000;  // of callers who may not

}  // namespace herald::limits
