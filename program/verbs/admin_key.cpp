// herald admin-key: an operator at the machine gives an administrator who lost the key a new one.
#include <iostream>

#include "program/parts/append_command.hpp"
#include "program/parts/installation.hpp"
#include "program/parts/open_log.hpp"
#include "program/parts/process_end.hpp"
#include "runtime/crypto.hpp"
#include "schemas/commands/all.hpp"
#include "storage/registry/find/directory.hpp"
#include "storage/registry/tables/installation.hpp"
#include "storage/rocks/rocks_state.hpp"

namespace herald::program {
namespace {

/// For a stopped standalone the state is on disk; otherwise the log gives it.
result<std::shared_ptr<const storage::registry::state::state_view>> state_of(
    const settings& chosen, events::log::partitioned_log& log) {
    const std::filesystem::path folder = folder_of(chosen) / "state";
    if (!is_on_kafka(chosen) && std::filesystem::exists(folder)) {
        const auto opened = storage::rocks::open_rocks_state(folder);
        if (!opened) return opened.error();
        if (storage::registry::tables::installation::has(*opened->store->view()))
            return opened->store->view();
    }
    const auto rows = storage::registry::state::make_memory_state();
    if (const auto applied = apply_log(log, *rows, 0); !applied) return applied.error();
    return rows->view();
}

/// Errors: not_found when nobody has that e-mail, or its user is not an administrator.
result<void> check_administrator(const storage::registry::state::state_view& state,
                                 const std::string& email) {
    const auto user = storage::registry::find::user_with_email(state, email);
    if (!user) return runtime::not_found({"no user has the e-mail \"", email, "\""});
    if (!user->system_admin)
        return runtime::not_found(
            {email,
             " is not a system administrator; this verb renews only the keys of system administrators"});
    return {};
}

result<void> renew(events::log::partitioned_log& log, const schemas::commands::genesis& genesis,
                   const std::string& email, const std::string& key) {
    schemas::commands::renew_admin_key renewal;
    renewal.email = email;
    renewal.key_hash = runtime::as_bytes(runtime::sha256(key));
    return append_command(log, genesis, schemas::commands::make_envelope(renewal));
}

}  // namespace

process_end run_admin_key(const settings& chosen) {
    // The default data folder may belong to another installation, whose ring would only be found to be wrong.
    if (is_on_kafka(chosen) && chosen.key_ring.empty()) {
        std::cerr << "herald: --key-ring FILE is missing\n";
        return process_end::wrong_use;
    }
    const auto keys = runtime::key_ring::load(key_ring_file(chosen));
    if (!keys) return failed(keys.error());
    const auto log = open_existing_log(chosen);
    if (!log) return failed(log.error());
    const auto genesis = storage::node::read_genesis(**log, *keys);
    if (!genesis) return failed(genesis.error());
    const std::string email =
        chosen.installation.admin_email.empty() ? genesis->admin_email : chosen.installation.admin_email;
    const auto state = state_of(chosen, **log);
    if (!state) return failed(state.error());
    if (const auto is_one = check_administrator(**state, email); !is_one) return failed(is_one.error());
    const std::string key = runtime::to_hex(runtime::system_random().bytes(32));
    if (const auto renewed = renew(**log, *genesis, email, key); !renewed) return failed(renewed.error());
    // The first administrator's new key goes where Herald put the previous one.
    const std::filesystem::path key_file = folder_of(chosen) / "admin-key";
    if (!is_on_kafka(chosen) && email == genesis->admin_email && std::filesystem::exists(key_file))
        if (const auto kept = write_key_file(key_file, email, key); !kept) return failed(kept.error());
    std::cout << "email " << email << "\nkey " << key << "\n";
    std::cerr << "herald: all keys and sessions that " << email << " had before end "
              << (!is_on_kafka(chosen) ? "when Herald starts again" : "now") << "\n";
    return process_end::done;
}

}  // namespace herald::program
