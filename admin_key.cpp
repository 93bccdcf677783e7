// herald admin-key: an operator at the machine gives an administrator whose key was lost a new one.
#include <future>
#include <iostream>

#include "composition.hpp"
#include "events/topics.hpp"
#include "runtime/clock.hpp"
#include "runtime/crypto.hpp"
#include "schemas/binary.hpp"
#include "storage/embedded_log/embedded_log.hpp"

namespace herald {
namespace {

/// A standalone applies it when it is started again: it may be a while until then.
constexpr std::int64_t applied_within_ms = 24ll * 3'600'000;

result<void> append(events::log& log, std::string bytes) {
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

result<void> renew(events::log& log, const runtime::key_ring& keys, const std::string& email,
                   const std::string& key) {
    const auto genesis = storage::read_genesis(log, keys);
    if (!genesis) return genesis.error();
    schemas::renew_admin_key renewal;
    renewal.email = email.empty() ? genesis->admin_email : email;
    renewal.key_hash = runtime::as_bytes(runtime::sha256(key));
    schemas::command_envelope command;
    command.log_id = genesis->log_id;
    command.generation = genesis->generation;
    command.command_id = runtime::system_random().uuid();
    command.sender_clock_ms = runtime::system_clock().wall_ms();
    command.not_after_ms = command.sender_clock_ms + applied_within_ms;
    command.type = schemas::renew_admin_key::type;
    command.body = schemas::encode(renewal);
    return append(log, schemas::seal_envelope(command));
}

result<std::unique_ptr<events::log>> open_log(const settings& chosen, const std::filesystem::path& folder) {
    if (!chosen.kafka.empty()) return open_kafka(chosen);
    auto log = storage::make_embedded_log(folder / "log", {}, runtime::system_clock());
    if (!log) return log.error();
    return std::unique_ptr<events::log>(*std::move(log));
}

}  // namespace

process_end run_admin_key(const settings& chosen) {
    const std::filesystem::path folder = chosen.data / "herald";
    const auto keys =
        runtime::key_ring::load(chosen.key_ring.empty() ? folder / "key-ring" : chosen.key_ring);
    if (!keys) return failed(keys.error());
    const auto log = open_log(chosen, folder);
    if (!log) return failed(log.error());
    const std::string key = runtime::to_hex(runtime::system_random().bytes(32));
    if (const auto renewed = renew(**log, *keys, chosen.admin_email, key); !renewed)
        return failed(renewed.error());
    std::cout << "key " << key << "\n";
    return process_end::done;
}

}  // namespace herald
