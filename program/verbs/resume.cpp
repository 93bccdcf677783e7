// herald resume: after a restore with --paused, lets deliveries begin.
#include <iostream>

#include "program/parts/append_command.hpp"
#include "program/parts/open_log.hpp"
#include "program/parts/process_end.hpp"
#include "schemas/commands/all.hpp"
#include "storage/node/genesis.hpp"

namespace herald::program {

process_end run_resume(const settings& chosen) {
    const auto keys = runtime::key_ring::load(key_ring_file(chosen));
    if (!keys) return failed(keys.error());
    const auto log = open_existing_log(chosen);
    if (!log) return failed(log.error());
    const auto genesis = storage::node::read_genesis(**log, *keys);
    if (!genesis) return failed(genesis.error());
    if (genesis->parent_log_id.empty())
        return failed(
            runtime::failed_precondition("this installation was not restored from a backup: "
                                         "nothing is paused"));
    const auto resumed = append_command(
        **log, *genesis, schemas::commands::make_envelope(schemas::commands::resume_deliveries{}));
    if (!resumed) return failed(resumed.error());
    std::cout << (is_on_kafka(chosen) ? "deliveries have resumed\n"
                                      : "deliveries will resume when Herald starts\n");
    return process_end::done;
}

}  // namespace herald::program
