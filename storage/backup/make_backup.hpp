// Makes a backup of a state and of the log beside it.
#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>

#include "events/log/log.hpp"
#include "storage/backup/backup_file.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::backup {

/// Compares the artifacts that a state refers to with their digests, and notes the result in the end of the
/// backup. Errors: aborted after a stop; unavailable when the store cannot be read at all.
using artifact_check =
    std::function<result<void>(const registry::state::state_view&, backup_end&, const std::stop_token&)>;

struct backup_source {
    const registry::state::state_view& state;
    events::log::partitioned_log& log;
    artifact_check check;  // empty: not compared, which the backup says
    std::stop_token stop;
};

/// Holds: the rows that outlive their log; events that no worker has finished or nobody has published;
/// deliveries that are retried, wait, or are dead. A delivery that ends meanwhile may be in it, too: its
/// receiver then gets it again, under the same webhook-id. The history of attempts is not in it, nor are
/// artifacts. The log may be written meanwhile. Blocks. Errors: failed_precondition when nothing is applied
/// yet; already_exists; aborted after a stop; unavailable.
result<backup_summary> make_backup(const backup_source&, const std::filesystem::path& file,
                                   std::int64_t now_ms);

}  // namespace herald::storage::backup
