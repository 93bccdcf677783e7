// herald state-hash: computes the state's hash at any offset from the log. A node that shows another hash at
// that offset in /readyz does not have the state that the log gives (P5).
#include <iostream>

#include "program/parts/open_log.hpp"
#include "program/parts/process_end.hpp"
#include "runtime/crypto.hpp"
#include "storage/registry/tables/content.hpp"

namespace herald::program {

process_end run_state_hash(const settings& given) {
    settings chosen = given;
    chosen.embedded_log.leap =
        storage::embedded_log::clock_leap::accepted;  // nothing is written, so the clock does not matter
    const auto log = open_existing_log(chosen);
    if (!log) return failed(log.error());
    const auto rows = storage::registry::state::make_memory_state();
    const auto position = apply_log(**log, *rows, chosen.at_offset);
    if (!position) return failed(position.error());
    const std::string hash =
        chosen.content_only ? storage::registry::tables::content::digest(*rows->view()) : position->hash;
    std::cout << runtime::to_hex(hash) << "\n";
    return process_end::done;
}

}  // namespace herald::program
