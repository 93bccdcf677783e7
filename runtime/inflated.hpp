// Compressed bodies of requests: gzip (RFC 1952) and zlib (RFC 1950), which HTTP calls deflate.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "runtime/error.hpp"

namespace herald::runtime {

/// Errors: invalid_argument unless the body is one or several whole members of either form; with status 413
/// for more than `bytes_max` inflated bytes, which are never held.
result<std::string> inflated(std::string_view compressed, std::size_t bytes_max);

}  // namespace herald::runtime
