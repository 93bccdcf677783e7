// The bounds of a call.
#pragma once

#include <cstddef>

namespace herald::limits {

constexpr std::size_t path_parameters_max = 8;  // of a route
constexpr std::size_t idempotency_key_bytes_max = 128;
constexpr std::size_t base_url_bytes_max = 512;  // for a node's address as its callers know it
constexpr std::size_t warning_name_bytes_max = 64;

}  // namespace herald::limits
