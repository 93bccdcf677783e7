// Compressed bodies of requests (RFC 1952).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "runtime/error.hpp"

namespace herald::runtime {

/// Errors: invalid_argument for what is not one or several whole gzip members, and, with status 413, for more
/// than `bytes_max` bytes inflated; no more than that is ever held.
result<std::string> inflated(std::string_view compressed, std::size_t bytes_max);

}  // namespace herald::runtime
