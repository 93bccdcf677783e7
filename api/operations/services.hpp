// What the handlers for operators need besides their calls.
#pragma once

#include "storage/backup/backup_desk.hpp"
#include "storage/snapshots/snapshot_desk.hpp"

namespace herald::api::operations {

/// As calls::services.
struct services {
    storage::backup::backup_desk& backups;
    storage::snapshots::snapshot_desk& snapshots;
};

}  // namespace herald::api::operations
