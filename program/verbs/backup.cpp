// herald backup create FILE: everything of an installation that another log can begin with, in one file;
// herald backup verify FILE: whether such a file is whole.
#include <iostream>

#include "program/parts/artifact_check.hpp"
#include "program/parts/open_log.hpp"
#include "program/parts/process_end.hpp"
#include "program/verbs/work_state.hpp"
#include "runtime/clock.hpp"
#include "runtime/crypto.hpp"
#include "runtime/text.hpp"
#include "storage/backup/make_backup.hpp"

namespace herald::program {
namespace {

void print(const std::filesystem::path& file, const storage::backup::backup_summary& made) {
    std::cout << "backup " << file.string() << "\nmade " << runtime::iso8601_ms(made.header.made_ms)
              << "\ngeneration " << made.header.log.generation << "\noffset " << made.header.next_offset
              << "\nrows " << made.end.rows << "\ndeliveries " << made.end.records << "\nbytes " << made.bytes
              << "\ncontent " << runtime::to_hex(made.end.content_digest) << "\nartifacts "
              << (made.end.artifacts_compared ? std::to_string(made.end.artifacts) + " compared, " +
                                                    std::to_string(made.end.artifacts_lost) + " lost"
                                              : std::string("not compared"))
              << "\n";
    tell_lost_artifacts(made.end);
}

process_end create(const settings& chosen, std::filesystem::path file) {
    const auto log = open_existing_log(chosen);
    if (!log) return failed(log.error());
    const auto state = make_work_state(chosen, **log, file);
    if (!state) return failed(state.error());
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored))
        file /= "herald-" + std::to_string((*state)->position().next_offset) + ".backup";
    const auto view = (*state)->rows().view();
    const auto made = storage::backup::make_backup({*view, **log, make_store_check(chosen), {}}, file,
                                                   runtime::system_clock().wall_ms());
    if (!made) return failed(made.error());
    print(file, *made);
    std::cerr << "herald: the history of attempts and the artifacts stay behind, and the key ring is not in "
                 "it: keep that file, too\n";
    return process_end::done;
}

}  // namespace

process_end run_backup(const settings& chosen) {
    const std::filesystem::path file = chosen.operands.back();
    if (chosen.operands.front() == "create") return create(chosen, file);
    if (chosen.operands.front() != "verify") {
        std::cerr << "herald: \"" << chosen.operands.front() << "\" is not an action of backup; create FILE "
                  << "makes one, verify FILE reads one\n";
        return process_end::wrong_use;
    }
    const auto whole = storage::backup::verify_backup(file);
    if (!whole) return failed(whole.error());
    print(file, *whole);
    return process_end::done;
}

}  // namespace herald::program
