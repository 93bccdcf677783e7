// The bounds of the copies of models.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::uint64_t cached_models_bytes_max = 16ull << 30;  // on disk, unless set otherwise
constexpr std::size_t cached_models_max = 1'024;
constexpr std::size_t cached_model_read_bytes = 256 * 1024;  // at a time, while one is compared

}  // namespace herald::limits
