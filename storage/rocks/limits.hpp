// The bounds shared by all of Herald's RocksDB databases.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::uint64_t rocks_room_bytes_min = 32ull << 20;

}  // namespace herald::limits
