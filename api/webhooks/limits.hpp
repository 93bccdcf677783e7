// The bounds of the calls about webhooks.
#pragma once

#include <cstddef>

namespace herald::limits {

constexpr std::size_t secret_bytes_max = 256;

}  // namespace herald::limits
