// The bounds of the service.
#pragma once

#include <cstdint>

namespace herald::limits {

constexpr std::int64_t turn_wait_ms_max = 10'000;  // a find waits for that of the same user

}  // namespace herald::limits
