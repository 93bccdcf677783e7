// herald restore BACKUP: a standalone begins anew with a backup, as the next generation of the installation.
#include "program/verbs/restore.hpp"

#include <iostream>

#include "program/parts/artifact_check.hpp"
#include "program/parts/installation.hpp"
#include "program/parts/process_end.hpp"
#include "runtime/clock.hpp"
#include "runtime/crypto.hpp"
#include "runtime/files.hpp"
#include "runtime/random.hpp"
#include "storage/backup/restore_backup.hpp"
#include "storage/registry/tables/content.hpp"
#include "storage/registry/tables/installation.hpp"

namespace herald::program {
namespace {

namespace fs = std::filesystem;

/// Makes log and state in `place`.
result<storage::backup::backup_summary> restore_in(const fs::path& place, const settings& chosen,
                                                   const runtime::key_ring& keys) {
    auto log =
        storage::embedded_log::make_embedded_log(place / "log", chosen.embedded_log, runtime::system_clock());
    if (!log) return log.error();
    if (const auto created = (*log)->create_topics(); !created) return created.error();
    const auto restored =
        storage::backup::restore_backup(chosen.operands.front(), **log, keys, chosen.restored_deliveries,
                                        runtime::system_random(), runtime::system_clock());
    if (!restored) return restored;
    const auto state = make_work_state_in(place, **log);
    if (!state) return state.error();
    if (const auto good = check_restored(*restored, **state); !good) return good.error();
    const auto view = (*state)->rows().view();
    if (const auto told = tell_missing_artifacts(chosen, *view); !told) return told.error();
    return restored;
}

/// The log first: a state without it is refused, and a log without a state makes one.
result<void> move_in(const fs::path& place, const fs::path& folder) {
    std::error_code failure;
    fs::rename(place / "log", folder / "log", failure);
    if (!failure) failure = runtime::make_durable(folder);
    if (!failure) fs::rename(place / "state", folder / "state", failure);
    if (failure) return runtime::unavailable({"cannot write ", folder.string(), ": ", failure.message()});
    fs::remove_all(place, failure);
    return {};
}

}  // namespace

result<void> check_restored(const storage::backup::backup_summary& backup, work_state& state) {
    const auto view = state.rows().view();
    const auto progress = storage::registry::tables::restoring::find(*view);
    const std::string digest = storage::registry::tables::content::digest(*view);
    if (progress && progress->is_done && digest == backup.end.content_digest) return {};
    return runtime::failed_precondition(
        {"the restore differs from the backup: its content is ", runtime::to_hex(digest), ", the backup's ",
         runtime::to_hex(backup.end.content_digest), ": do not use it, and restore into an empty log"});
}

void print_restored(const storage::backup::backup_summary& backup, const settings& chosen) {
    std::cout << "generation " << backup.header.log.generation + 1 << "\nrows " << backup.end.rows
              << "\ndeliveries " << backup.end.records << "\ncontent "
              << runtime::to_hex(backup.end.content_digest) << "\n";
    std::cerr << "herald: the history of attempts stays behind; deliveries keep their webhook-id\n";
    if (chosen.restored_deliveries.begin == storage::backup::deliveries::paused)
        std::cerr << "herald: nothing is delivered until `herald resume`\n";
}

process_end run_restore(const settings& chosen) {
    const auto keys = runtime::key_ring::load(key_ring_file(chosen));
    if (!keys) return failed(keys.error());
    const auto made = make_folder(chosen);
    if (!made) return failed(made.error());
    if (fs::exists(*made / "log") || fs::exists(*made / "state"))
        return failed(runtime::failed_precondition({"there is an installation in ", made->string(),
                                                    " already: restore into another folder, or move that "
                                                    "one away"}));
    const fs::path place = *made / "restoring";
    std::error_code failure;
    fs::remove_all(place, failure);
    fs::create_directories(place, failure);
    if (failure)
        return failed(runtime::unavailable({"cannot make ", place.string(), ": ", failure.message()}));
    const auto restored = restore_in(place, chosen, *keys);
    if (!restored) {
        fs::remove_all(place, failure);
        return failed(restored.error());
    }
    if (const auto moved = move_in(place, *made); !moved) return failed(moved.error());
    print_restored(*restored, chosen);
    return process_end::done;
}

}  // namespace herald::program
