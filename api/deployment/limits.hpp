// The bounds of deployment calls.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::size_t scan_history_max = 100;

}  // namespace herald::limits
