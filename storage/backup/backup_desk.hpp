// Backups that a running node makes of itself, into a folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "events/log/log.hpp"
#include "runtime/clock.hpp"
#include "storage/backup/backup_file.hpp"
#include "storage/backup/make_backup.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::backup {

enum class backup_state : std::uint8_t {
    running,
    done,
    failed,  // as long as this process remembers
    damaged  // the file cannot be read
};

struct backup_row {
    std::string name;  // of the file
    std::filesystem::path path;
    backup_state state = backup_state::done;
    std::int64_t made_ms = 0;  // wall time when it was begun
    std::string problem;       // why it failed, or how it is damaged
    std::uint64_t bytes = 0;   // the rest only of those that are done
    std::string digest;        // SHA-256: its last bytes
    backup_summary what;
};

/// Thread-safe.
class backup_desk {
  public:
    virtual ~backup_desk() = default;
    /// Begins one, and does not wait for it. Errors: already_exists while one is being made;
    /// failed_precondition when the folder holds limits::backups_kept_max; unavailable when the disk is low,
    /// or the node ends.
    virtual result<backup_row> begin() = 0;
    /// The newest first, at most limits::backups_listed_max. Blocks. Errors: unavailable.
    virtual result<std::vector<backup_row>> list() const = 0;
};

struct backup_desk_parts {
    const registry::state::state_store& state;
    events::log::partitioned_log& log;
    std::filesystem::path folder;
    const runtime::clock& clock;
    std::function<bool()> is_disk_low;
    artifact_check check;  // may be empty
};
/// Makes the folder when it is needed. Files in it are never removed, except those of backups that were cut
/// off. The destructor interrupts a backup that is being made, and waits for that. The parts that it uses
/// outlive it.
std::unique_ptr<backup_desk> make_backup_desk(backup_desk_parts);

}  // namespace herald::storage::backup
