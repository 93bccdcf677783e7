// herald init: creates the topics and begins an installation on Kafka.
#include <iostream>

#include "program/installation.hpp"
#include "program/open_log.hpp"
#include "program/process_end.hpp"
#include "runtime/clock.hpp"
#include "runtime/random.hpp"
#include "storage/node/genesis.hpp"

namespace herald::program {

process_end run_init(const settings& chosen) {
    // A file that is not a key ring is refused before Kafka is asked for anything.
    const auto there = runtime::key_ring::load(key_ring_file(chosen));
    if (!there && there.error().code != error_code::not_found) return failed(there.error());
    const auto log = open_kafka_log(chosen);
    if (!log) return failed(log.error());
    if (const auto created = (*log)->create_topics(); !created) return failed(created.error());
    const auto keys = ring_of(key_ring_file(chosen), [&]() -> result<bool> {
        const auto begun = storage::node::has_begun(**log);
        if (!begun) return begun.error();
        return !*begun;
    });
    if (!keys) return failed(keys.error());
    const storage::node::genesis_options options = with_admin_key(chosen.installation);
    const auto nothing = storage::registry::state::make_memory_state();
    const auto begun = storage::node::begin_log(**log, *keys, options, *nothing->view(),
                                                runtime::system_random(), runtime::system_clock());
    if (!begun) return failed(begun.error());
    if (!begun->is_new) {
        std::cerr
            << "herald: the installation is already there; its administrator and key stay as they are (a "
               "lost key: herald admin-key)\n";
        return process_end::done;
    }
    std::cout << "email " << options.admin_email << "\nkey " << options.admin_key << "\n";
    return process_end::done;
}

}  // namespace herald::program
