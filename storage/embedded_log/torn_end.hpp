// What a power failure does to the end of the embedded log's write-ahead log, told from damage.
#pragma once

#include <filesystem>
#include <string_view>

namespace herald::storage::embedded_log {

/// Begins every batch that is synced before it is acknowledged; it is in the write-ahead log only.
inline constexpr std::string_view synced_mark = "synced";

/// After RocksDB found the write-ahead log of `folder` corrupt: whether that is only its end, never synced,
/// of which the disk had not yet written every sector when the power failed. So it is when the first damage
/// holds a sector of zeros and no synced batch follows it whole. Anything else, a flipped byte say, is damage
/// to what may have been acknowledged. False, too, when the files cannot be read.
bool has_torn_end(const std::filesystem::path& folder);

}  // namespace herald::storage::embedded_log
