// Whether the store has the artifacts that a state refers to.
#pragma once

#include "program/options/settings.hpp"
#include "storage/artifacts/store.hpp"
#include "storage/backup/make_backup.hpp"

namespace herald::program {

/// Reads every object to its end, one after the other; the store compares it with its digest. `store` must
/// outlive it.
storage::backup::artifact_check make_artifact_check(storage::artifacts::artifact_store& store);

/// For an operator's command, with the store of artifacts that the settings name. Compares nothing, and is
/// empty, if there is no such folder.
storage::backup::artifact_check make_store_check(const settings&);

/// Says on standard error which of the artifacts that `state` refers to are not in that folder. Errors: those
/// of the store.
result<void> tell_missing_artifacts(const settings&, const storage::registry::state::state_view& state);

/// Prints on standard error what a backup says about its artifacts.
void tell_lost_artifacts(const storage::backup::backup_end&);

}  // namespace herald::program
