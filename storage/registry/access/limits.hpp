// The bounds of what is remembered about users and rights.
#pragma once

#include <cstddef>

namespace herald::limits {

constexpr std::size_t access_memory_entries_max = 10'000;

}  // namespace herald::limits
