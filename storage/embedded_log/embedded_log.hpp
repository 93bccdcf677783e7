// The log of a standalone Herald: all topics of an installation in a separate RocksDB (design.md §6).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "events/log/log.hpp"
#include "runtime/clock.hpp"

namespace herald::storage::embedded_log {

/// Whether a wall clock more than 30 days ahead of the newest record is accepted (--accept-clock).
enum class clock_leap : std::uint8_t { refused, accepted };

struct embedded_log_options {
    clock_leap leap = clock_leap::refused;
    /// The newest records of all partitions, up to this size, are read from memory; older ones from the
    /// database, whose own buffers hold most that a reader who lags will ask for.
    std::size_t recent_bytes_max = 2 * 1024 * 1024;
    /// How often retention and compaction look for work, in ms of real time.
    std::int64_t maintenance_interval_ms = 60'000;
    /// `subscribers`: how long superseded values of a key, and tombstones, are kept.
    std::int64_t compaction_lag_ms = 3'600'000;
    std::int64_t tombstone_kept_ms = 24ll * 3'600'000;
    /// A partition is compacted after this many appends, but not before as many as the last compaction kept.
    std::int64_t compaction_appends_min = 1'000;
    /// About how many files of its database are open at a time; never more than 256.
    std::size_t open_files_max = 256;
};

/// One thread commits: it writes everything from all producers as one batch, syncs it if it has a record of a
/// durable topic, and only then shows it to readers and acknowledges it. A group has one owner, the member
/// that joined first; other members wait until it leaves. Committed offsets reach the disk within 100 ms;
/// kill -9 loses no acknowledged record. When the disk is full or fails, appends are `unavailable` and
/// readers continue; writing resumes by itself. What it opened may outlive it and is then out of reach. Must
/// not be destroyed in a handler.
class embedded_log : public events::log::partitioned_log {
  public:
    /// Runs retention and compaction now. Blocks; any thread.
    virtual void maintain() = 0;
};

/// Opens or creates the log in `folder`, which it locks for this process. The clock must outlive the log: its
/// wall clock counts only when the log is opened and only if it is not behind the newest record; after that
/// only its steady clock counts. Errors:
///   unavailable          another process has the folder open; the disk is full or cannot be written
///   failed_precondition  the files are damaged beyond repair or of a newer version, or the clock has jumped
///                        too far (clock_leap)
result<std::unique_ptr<embedded_log>> make_embedded_log(const std::filesystem::path& folder,
                                                        const embedded_log_options&, const runtime::clock&);

}  // namespace herald::storage::embedded_log
