// The bounds of archives.
#pragma once

#include <cstddef>

namespace herald::limits {

constexpr std::size_t tar_name_bytes_max = 100;  // of a file in an archive, in its header

}  // namespace herald::limits
