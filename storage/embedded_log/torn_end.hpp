// Distinguishes what a power failure does to the end of the embedded log's write-ahead log from other damage.
#pragma once

#include <filesystem>
#include <string_view>

namespace herald::storage::embedded_log {

/// Begins every batch that is synced before it is acknowledged; it exists only in the write-ahead log.
inline constexpr std::string_view synced_mark = "synced";

/// To be asked when RocksDB found the write-ahead log of `folder` corrupt: whether the damage is only its
/// end, which was never synced and of which the disk had not written every sector when the power failed. That
/// is so when the first damage contains a sector of zeros and no complete synced batch follows it. Any other
/// damage (a flipped byte, for example) may be to acknowledged records. Also false when the files cannot be
/// read.
bool has_torn_end(const std::filesystem::path& folder);

}  // namespace herald::storage::embedded_log
