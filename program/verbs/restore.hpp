// What `herald restore` and `herald init --from` have in common.
#pragma once

#include "program/options/settings.hpp"
#include "program/verbs/work_state.hpp"
#include "storage/backup/backup_file.hpp"

namespace herald::program {

/// Errors: failed_precondition when what was restored is not what was backed up: nothing may start on it.
result<void> check_restored(const storage::backup::backup_summary&, work_state&);
/// On standard output, and what stays behind on standard error.
void print_restored(const storage::backup::backup_summary&, const settings&);

}  // namespace herald::program
