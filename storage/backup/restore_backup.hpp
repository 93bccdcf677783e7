// Begins a log with a backup: the next generation of the installation.
#pragma once

#include <filesystem>

#include "events/log/log.hpp"
#include "runtime/clock.hpp"
#include "runtime/key_ring.hpp"
#include "runtime/random.hpp"
#include "storage/backup/backup_file.hpp"

namespace herald::storage::backup {

enum class deliveries : std::uint8_t { run, paused };
/// Dead deliveries stay dead, or each is tried anew with all its attempts.
enum class dead_deliveries : std::uint8_t { stay, tried_again };

struct restored_deliveries {
    deliveries begin = deliveries::run;
    dead_deliveries dead = dead_deliveries::stay;
    bool operator==(const restored_deliveries&) const = default;
};

/// Writes GENESIS, the rows, what was not delivered, and the end of the restore into an empty log whose
/// topics are made; a restore of the same backup that was cut off goes on, and appends no record twice. A
/// finished restore must not be repeated; the caller makes sure of that. Nodes on the log serve only when the
/// end is there. Blocks. Errors: those of verify_backup; failed_precondition when the key ring differs, the
/// log holds something else, or the interrupted restore treated dead deliveries in the other way;
/// unavailable: try again.
result<backup_summary> restore_backup(const std::filesystem::path& file, events::log::partitioned_log&,
                                      const runtime::key_ring&, restored_deliveries, runtime::random_source&,
                                      const runtime::clock&);

}  // namespace herald::storage::backup
