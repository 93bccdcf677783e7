// The log of a standalone Herald: the topics of a whole installation in one RocksDB of their own (design.md
// §6).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "events/log/log.hpp"
#include "runtime/clock.hpp"

namespace herald::storage::embedded_log {

/// Whether a wall clock that is more than 30 days ahead of the newest record is taken (--accept-clock).
enum class clock_leap : std::uint8_t { refused, accepted };

struct embedded_log_options {
    clock_leap leap = clock_leap::refused;
    /// Records of all partitions that are read from memory: the newest.
    std::size_t recent_bytes_max = 16 * 1024 * 1024;
    /// How often retention and compaction look for work, in ms of real time.
    std::int64_t maintenance_interval_ms = 60'000;
    /// `subscribers`: how long every value of a key stays, and a tombstone.
    std::int64_t compaction_lag_ms = 3'600'000;
    std::int64_t tombstone_kept_ms = 24ll * 3'600'000;
    /// A partition is compacted when so many records, and as many as the last time stayed, were appended.
    std::int64_t compaction_appends_min = 1'000;
    /// Files of its database that are open at a time, about; never more than 256.
    std::size_t open_files_max = 256;
};

/// One thread commits: it writes what all producers gave it as one batch, syncs it if a record of a durable
/// topic is among them, and only then shows it to readers and acknowledges it. A group has one owner, the
/// member that joined first; others wait until it leaves. Commits of offsets reach the disk within 100 ms;
/// kill -9 loses no acknowledged record. When the disk is full or fails, appends are `unavailable` and
/// readers read on; it resumes by itself. What it opened may outlive it and is then out of reach. Not to be
/// destroyed in a handler.
class embedded_log : public events::log::partitioned_log {
  public:
    /// Retention and compaction, now. Blocks; any thread.
    virtual void maintain() = 0;
};

/// Opens or makes the log in `folder`, which it locks for this process. The clock must outlive the log: its
/// wall clock counts when the log is opened and if it is not behind the newest record, after that only its
/// steady one. Errors:
///   unavailable          another process has the folder open; the disk is full or cannot be written
///   failed_precondition  the files are damaged beyond repair or of a newer version, or the clock has leapt
///                        too far (clock_leap)
result<std::unique_ptr<embedded_log>> make_embedded_log(const std::filesystem::path& folder,
                                                        const embedded_log_options&, const runtime::clock&);

}  // namespace herald::storage::embedded_log
