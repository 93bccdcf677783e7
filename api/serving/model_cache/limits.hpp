// The bounds of the copies of models.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::uint64_t cached_models_bytes_max = 16ull << 30;  // on disk, unless set otherwise
constexpr std::size_t cached_models_max = 1'024;
/// Of what must stay free on the disk, one part of so many: with less than that beside it, copies that nobody
/// needs go, so that no write is refused for their sake.
constexpr std::uint64_t copies_reserve_divisor = 8;
constexpr std::size_t cached_model_read_bytes = 256 * 1024;  // at a time, while one is compared

constexpr int load_ends_max = 2;  // of the process, during a model's load
/// A model that may have ended the process is loaded by itself for so long at most; and waits as long for
/// that.
constexpr std::int64_t load_alone_ms_max = 30'000;

}  // namespace herald::limits
