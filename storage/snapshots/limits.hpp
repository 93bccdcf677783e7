// The bounds of snapshots.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::size_t snapshots_kept = 2;                        // the newest may prove to be damaged
constexpr std::int64_t snapshot_interval_ms = 24ll * 3'600'000;  // of log time
constexpr std::uint64_t snapshot_records_min = 10'000;           // fewer are applied again in a moment
constexpr std::int64_t snapshot_look_ms = 60'000;
constexpr std::int64_t snapshot_rest_ms = 3'600'000;          // after one that failed
constexpr std::size_t snapshot_list_bytes_max = 16ull << 20;  // of files, with their digests

}  // namespace herald::limits
