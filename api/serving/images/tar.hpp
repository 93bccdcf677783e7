// The headers of tar archives: POSIX ustar. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace herald::api::serving::images {

constexpr std::size_t tar_block_bytes = 512;

/// A file's header. A name is cut at limits::tar_name_bytes_max; kind '0' is a file, 'L' the long name of the
/// next one, as GNU tar writes it. The same arguments make the same bytes.
std::string tar_header(std::string_view name, std::uint64_t bytes, char kind);

/// Zeros up to the next whole block.
std::string tar_padding(std::uint64_t bytes);

/// What a file takes in an archive, its header included.
constexpr std::uint64_t tar_entry_bytes(std::uint64_t bytes) noexcept {
    return tar_block_bytes + (bytes + tar_block_bytes - 1) / tar_block_bytes * tar_block_bytes;
}

}  // namespace herald::api::serving::images
