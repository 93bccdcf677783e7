// herald admin-key: an operator at the machine gives an administrator whose key was lost a new one.
#include <future>
#include <iostream>

#include "composition.hpp"
#include "events/topics.hpp"
#include "runtime/clock.hpp"
#include "runtime/crypto.hpp"
#include "runtime/text.hpp"
#include "schemas/commands/all.hpp"
#include "storage/embedded_log/embedded_log.hpp"
#include "storage/rocks_state.hpp"
#include "storage/tables.hpp"

namespace herald {
namespace {

/// A standalone applies it when it is started again: it may be a while until then.
constexpr std::int64_t applied_within_ms = 24ll * 3'600'000;

/// A stopped standalone's state is at hand; else the log says what it is.
result<std::shared_ptr<const storage::state_view>> state_of(const settings& chosen, events::log& log) {
    const std::filesystem::path folder = chosen.data / "herald" / "state";
    if (chosen.kafka.empty() && std::filesystem::exists(folder)) {
        const auto opened = storage::open_rocks_state(folder);
        if (!opened) return opened.error();
        if (opened->store->view()->get(storage::key_of(storage::table::installation)))
            return opened->store->view();
    }
    const auto rows = storage::make_memory_state();
    if (const auto applied = apply_log(log, *rows, 0); !applied) return applied.error();
    return rows->view();
}

/// Errors: not_found when the e-mail is nobody's, or not an administrator's.
result<void> check_administrator(const storage::state_view& state, const std::string& email) {
    using storage::key_of;
    using storage::table;
    const auto id = storage::find_number(state, key_of(table::user_by_email).text(runtime::to_lower(email)));
    const auto user =
        id ? storage::find_row<schemas::user>(state, key_of(table::user).number(*id)) : std::nullopt;
    if (!user) return runtime::not_found("nobody here has the e-mail \"" + email + "\"");
    if (!user->system_admin)
        return runtime::not_found(email + " is no system administrator; only their keys are renewed here");
    return {};
}

result<void> renew(events::log& log, const schemas::genesis& genesis, const std::string& email,
                   const std::string& key) {
    schemas::renew_admin_key renewal;
    renewal.email = email;
    renewal.key_hash = runtime::as_bytes(runtime::sha256(key));
    schemas::command_envelope command = schemas::make_envelope(renewal);
    command.log_id = genesis.log_id;
    command.generation = genesis.generation;
    command.command_id = runtime::system_random().uuid();
    command.sender_clock_ms = runtime::system_clock().wall_ms();
    command.not_after_ms = command.sender_clock_ms + applied_within_ms;
    return append_command(log, schemas::seal_envelope(command));
}

}  // namespace

result<void> append_command(events::log& log, std::string bytes) {
    const auto producer = log.open_producer(events::producer_kind::ordinary);
    std::promise<result<std::int64_t>> answered;
    const events::topic_partition commands{std::string(events::topic::commands), 0};
    const auto accepted = producer->append(commands, "", std::move(bytes), [&](result<std::int64_t> offset) {
        answered.set_value(std::move(offset));
    });
    if (!accepted) return accepted;
    const result<std::int64_t> offset = answered.get_future().get();
    if (!offset) return offset.error();
    return {};
}

result<std::unique_ptr<events::log>> open_log(const settings& chosen, const std::filesystem::path& folder) {
    if (!chosen.kafka.empty()) {
        auto kafka = open_kafka(chosen);
        if (!kafka) return kafka.error();
        return std::unique_ptr<events::log>(*std::move(kafka));
    }
    auto log = storage::make_embedded_log(folder / "log", {}, runtime::system_clock());
    if (!log) return log.error();
    return std::unique_ptr<events::log>(*std::move(log));
}

process_end run_admin_key(const settings& chosen) {
    const std::filesystem::path folder = chosen.data / "herald";
    const auto keys =
        runtime::key_ring::load(chosen.key_ring.empty() ? folder / "key-ring" : chosen.key_ring);
    if (!keys) return failed(keys.error());
    const auto log = open_log(chosen, folder);
    if (!log) return failed(log.error());
    const auto genesis = storage::read_genesis(**log, *keys);
    if (!genesis) return failed(genesis.error());
    const std::string email = chosen.admin_email.empty() ? genesis->admin_email : chosen.admin_email;
    const auto state = state_of(chosen, **log);
    if (!state) return failed(state.error());
    if (const auto is_one = check_administrator(**state, email); !is_one) return failed(is_one.error());
    const std::string key = runtime::to_hex(runtime::system_random().bytes(32));
    if (const auto renewed = renew(**log, *genesis, email, key); !renewed) return failed(renewed.error());
    // The first administrator's is kept where Herald put the one before.
    const std::filesystem::path key_file = folder / "admin-key";
    if (chosen.kafka.empty() && email == genesis->admin_email && std::filesystem::exists(key_file))
        if (const auto kept = write_key_file(key_file, email, key); !kept) return failed(kept.error());
    std::cout << "email " << email << "\nkey " << key << "\n";
    std::cerr << "herald: all keys that " << email << " had before end "
              << (chosen.kafka.empty() ? "when Herald starts again" : "now") << "\n";
    return process_end::done;
}

}  // namespace herald
