// herald init: creates the topics and begins an installation on Kafka.
#include <iostream>

#include "program/parts/append_command.hpp"
#include "program/parts/artifact_check.hpp"
#include "program/parts/installation.hpp"
#include "program/parts/open_log.hpp"
#include "program/parts/process_end.hpp"
#include "program/verbs/restore.hpp"
#include "runtime/clock.hpp"
#include "runtime/crypto.hpp"
#include "runtime/random.hpp"
#include "storage/backup/restore_backup.hpp"
#include "storage/node/genesis.hpp"
#include "storage/registry/tables/content.hpp"

namespace herald::program {

namespace {

/// Errors: failed_precondition when the log holds a restore that has ended: deliveries would be sent again.
result<void> check_not_restored(const settings& chosen, events::log::partitioned_log& log,
                                const runtime::key_ring& keys) {
    const auto genesis = storage::node::read_genesis(log, keys);
    if (!genesis && genesis.error().code == error_code::not_found) return {};
    if (!genesis) return genesis.error();
    if (genesis->parent_log_id.empty()) return {};  // refused by the restore itself
    const auto state = make_restored_state(chosen.from_backup, log);
    if (!state) return state.error();
    if (!*state) return {};  // it was cut off, and goes on
    return runtime::failed_precondition(
        {"the log holds generation ", genesis->generation,
         " already, and its restore has ended: nothing is restored again. Its content at that place was ",
         runtime::to_hex(storage::registry::tables::content::digest(*(*state)->rows().view())),
         "; `herald backup verify` prints the content of a backup"});
}

/// The move from one log to another. The digests are compared before it is called done.
process_end begin_with_backup(const settings& chosen, events::log::partitioned_log& log,
                              const runtime::key_ring& keys) {
    if (const auto good = check_not_restored(chosen, log, keys); !good) return failed(good.error());
    const auto restored =
        storage::backup::restore_backup(chosen.from_backup, log, keys, chosen.restored_deliveries,
                                        runtime::system_random(), runtime::system_clock());
    if (!restored) return failed(restored.error());
    const auto state = make_restored_state(chosen.from_backup, log);
    if (!state) return failed(state.error());
    if (!*state) return failed(runtime::unavailable("the end of the restore is not in the log: try again"));
    if (const auto good = check_restored(*restored, **state); !good) return failed(good.error());
    print_restored(*restored, chosen);
    const auto view = (*state)->rows().view();
    if (const auto told = tell_missing_artifacts(chosen, *view); !told) return failed(told.error());
    return process_end::done;
}

}  // namespace

process_end run_init(const settings& chosen) {
    if (chosen.from_backup.empty() && chosen.restored_deliveries != storage::backup::restored_deliveries()) {
        std::cerr << "herald: --paused and --retry-dead are for the content of a backup; --from BACKUP is "
                     "missing\n";
        return process_end::wrong_use;
    }
    if (chosen.from_backup.empty() && chosen.installation.admin_email.empty()) {
        std::cerr << "herald: --admin-email EMAIL is missing\n";
        return process_end::wrong_use;
    }
    // A file that is not a key ring is refused before Kafka is asked for anything.
    const auto there = runtime::key_ring::load(key_ring_file(chosen));
    if (!there && there.error().code != error_code::not_found) return failed(there.error());
    const auto log = open_kafka_log(chosen);
    if (!log) return failed(log.error());
    if (const auto created = (*log)->create_topics(); !created) return failed(created.error());
    const auto keys = ring_of(key_ring_file(chosen), [&]() -> result<bool> {
        if (!chosen.from_backup.empty()) return false;  // it was made under one
        const auto begun = storage::node::has_begun(**log);
        if (!begun) return begun.error();
        return !*begun;
    });
    if (!keys) return failed(keys.error());
    if (!chosen.from_backup.empty()) return begin_with_backup(chosen, **log, *keys);
    const storage::node::genesis_options options = with_admin_key(chosen.installation);
    const auto nothing = storage::registry::state::make_memory_state();
    const auto begun = storage::node::begin_log(**log, *keys, options, *nothing->view(),
                                                runtime::system_random(), runtime::system_clock());
    if (!begun) return failed(begun.error());
    if (options.webhooks_by)
        if (const auto set = append_webhooks_by(**log, begun->genesis, *options.webhooks_by); !set)
            return failed(set.error());
    if (!begun->is_new) {
        std::cerr << "herald: the installation exists already; its administrator and key stay as they are (a "
                     "lost key: herald admin-key)\n";
        return process_end::done;
    }
    std::cout << "email " << options.admin_email << "\nkey " << options.admin_key << "\n";
    return process_end::done;
}

}  // namespace herald::program
