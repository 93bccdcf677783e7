// The bounds shared by all of Herald's RocksDB databases.
#pragma once

#include <cstdint>

namespace herald::limits {

/// So much free space is always enough to open a database again and continue for a while;
constexpr std::uint64_t rocks_room_bytes_min = 32ull << 20;
/// and so much is needed beside what its write-ahead logs become.
constexpr std::uint64_t rocks_room_beside_bytes = 4ull << 20;

}  // namespace herald::limits
