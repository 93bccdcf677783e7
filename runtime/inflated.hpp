// gzip (RFC 1952) and zlib (RFC 1950), which HTTP calls deflate: compressed bodies of requests, and the
// checksum of what is sent as gzip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/error.hpp"

namespace herald::runtime {

/// Errors: invalid_argument unless the body is one or several whole members of either form; with status 413
/// for more than `bytes_max` inflated bytes, which are never held.
result<std::string> inflated(std::string_view compressed, std::size_t bytes_max);

/// The CRC-32 of bytes in pieces: `before` is that of the pieces before, 0 for the first.
std::uint32_t crc32_after(std::uint32_t before, std::string_view piece) noexcept;

}  // namespace herald::runtime
