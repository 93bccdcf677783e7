#include "storage/node/genesis.hpp"

#include <chrono>
#include <memory>
#include <thread>

#include "events/event_topic.hpp"
#include "runtime/crypto.hpp"
#include "schemas/commands/all.hpp"
#include "schemas/limits.hpp"
#include "schemas/number_fields.hpp"
#include "schemas/stored_format.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/tables/installation.hpp"
#include "storage/registry/tables/webhooks.hpp"

namespace herald::storage::node {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds patience{limits::genesis_wait_ms_max};
constexpr std::int64_t poll_wait_ms = 10;  // spent in full at the end of the log
constexpr milliseconds rest_after_trouble{100};
constexpr milliseconds append_again_after{5'000};
constexpr std::uint32_t format_field = 15;  // genesis::format

const events::log::topic_partition commands_partition{std::string(events::log::topic::commands), 0};

/// The record at offset 0. not_found when the log is empty.
result<events::log::record> first_record(events::log::partitioned_log& log,
                                         steady_clock::time_point deadline) {
    error last = runtime::unavailable("the log does not answer");
    std::unique_ptr<events::log::reader> reader;
    while (steady_clock::now() < deadline) {
        if (!reader) reader = log.open_reader(commands_partition, 0);
        auto batch = reader->poll(1, poll_wait_ms);
        if (batch && !batch->records.empty()) return std::move(batch->records.front());
        if (batch && batch->at_end) return runtime::not_found("the log is empty");
        if (batch) continue;
        if (batch.error().code == error_code::failed_precondition) return batch.error();
        last = batch.error();
        reader.reset();
        std::this_thread::sleep_for(rest_after_trouble);
    }
    return last;
}

result<std::uint32_t> event_partitions(events::log::partitioned_log& log) {
    std::uint32_t all = 0;
    for (const std::string_view topic : events::event_topics) {
        const auto here = log.partitions(std::string(topic));
        if (!here) return here.error();
        const auto count = static_cast<std::uint32_t>(*here);
        if (all != 0 && all != count)
            return runtime::failed_precondition({"the event topics must have equally many partitions, but ",
                                                 topic, " has ", count, " and another ", all});
        all = count;
    }
    return all;
}

result<schemas::commands::genesis> genesis_in(const events::log::record& first) {
    const auto command = schemas::commands::open_envelope(first.value.value_or(""));
    if (first.offset != 0 || !command || command->type != schemas::commands::genesis::type)
        return runtime::failed_precondition(
            "the topic registry.commands does not begin with GENESIS: it is not a log of Herald, or its "
            "beginning is lost");
    // Of another format, the rest may mean something else.
    const auto format = schemas::find_number(command->body, format_field);
    if (const auto known = schemas::check_stored_format("the log (by its GENESIS)", format.value_or(0));
        !known)
        return known.error();
    return schemas::decode<schemas::commands::genesis>(command->body);
}

result<schemas::commands::genesis> checked(events::log::partitioned_log& log, const runtime::key_ring& keys,
                                           const events::log::record& first) {
    auto found = genesis_in(first);
    if (!found) return found;
    if (found->key_check != keys.check_value())
        return runtime::failed_precondition(
            "the key ring is not the one that this log was begun with: give the same --key-ring on every "
            "node");
    const auto partitions = event_partitions(log);
    if (!partitions) return partitions.error();
    if (*partitions != found->event_partitions)
        return runtime::failed_precondition({"the event topics have ", *partitions,
                                             " partitions, but the log was begun with ",
                                             found->event_partitions});
    return found;
}

std::string sealed(const schemas::commands::genesis& first, runtime::random_source& random,
                   const runtime::clock& clock) {
    schemas::commands::command_envelope command = schemas::commands::make_envelope(first);
    command.log_id = first.log_id;
    command.generation = first.generation;
    command.command_id = random.uuid();
    command.sender_clock_ms = clock.wall_ms();
    command.not_after_ms = INT64_MAX;  // no record comes before it
    return schemas::commands::seal_envelope(command);
}

/// Retries until it is there. A second copy, or another node's, does no harm: the first counts.
result<events::log::record> append_first(events::log::partitioned_log& log, const std::string& bytes,
                                         steady_clock::time_point deadline) {
    const auto producer = log.open_producer(events::log::producer_kind::ordinary);
    result<events::log::record> first = runtime::unavailable("the log does not answer");
    for (auto again = steady_clock::now(); steady_clock::now() < deadline;) {
        if (steady_clock::now() >= again) {
            const auto accepted = producer->append(commands_partition, "", bytes, [](const auto&) {});
            if (!accepted) return accepted.error();
            again = steady_clock::now() + append_again_after;
        }
        first = first_record(log, deadline);
        if (first || first.error().code != error_code::not_found) return first;
        std::this_thread::sleep_for(rest_after_trouble / 20);
    }
    return first;
}

}  // namespace

result<void> check_admin_email(std::string_view field, std::string_view email) {
    return registry::rules::check_email(field, email);
}

result<void> check_organization_name(std::string_view field, std::string_view name) {
    return registry::rules::check_name(field, name, limits::name_bytes_max);
}

result<bool> has_begun(events::log::partitioned_log& log) {
    const auto first = first_record(log, steady_clock::now() + patience);
    if (!first && first.error().code == error_code::not_found) return false;
    if (!first) return first.error();
    if (const auto found = genesis_in(*first); !found) return found.error();
    return true;
}

result<schemas::commands::genesis> read_genesis(events::log::partitioned_log& log,
                                                const runtime::key_ring& keys, std::int64_t wait_ms) {
    const auto first = first_record(log, steady_clock::now() + milliseconds(wait_ms));
    if (!first) return first.error();
    return checked(log, keys, *first);
}

result<log_beginning> begin_log(events::log::partitioned_log& log, const runtime::key_ring& keys,
                                const genesis_options& options, const registry::state::state_view& state,
                                runtime::random_source& random, const runtime::clock& clock) {
    const auto deadline = steady_clock::now() + patience;
    auto first = first_record(log, deadline);
    const bool is_empty = !first && first.error().code == error_code::not_found;
    if (is_empty && registry::tables::installation::has(state))
        return runtime::failed_precondition(
            "the log is empty, but this node has applied one before: the log was lost or created anew");
    schemas::commands::genesis beginning;
    if (is_empty) {
        const auto email = check_admin_email("the administrator's e-mail", options.admin_email);
        if (!email) return email.error();
        const auto name = check_organization_name("the organisation's name", options.organization_name);
        if (!name) return name.error();
        const auto partitions = event_partitions(log);
        if (!partitions) return partitions.error();
        beginning.log_id = random.uuid();
        beginning.event_partitions = *partitions;
        beginning.level = schemas::commands::newest_level;
        beginning.format = schemas::stored_format;
        beginning.key_check = keys.check_value();
        beginning.organization_name = options.organization_name;
        beginning.admin_uuid = random.uuid();
        beginning.admin_email = options.admin_email;
        beginning.admin_key_hash = runtime::as_bytes(runtime::sha256(options.admin_key));
        beginning.require_approval_for = options.require_approval_for;
        first = append_first(log, sealed(beginning, random, clock), deadline);
    }
    if (!first) return first.error();
    auto found = checked(log, keys, *first);
    if (!found) return found.error();
    const bool is_new = is_empty && found->log_id == beginning.log_id;
    return log_beginning{*std::move(found), is_new};
}

result<schemas::commands::genesis> continue_log(events::log::partitioned_log& log,
                                                const runtime::key_ring& keys,
                                                const schemas::commands::genesis& beginning,
                                                runtime::random_source& random, const runtime::clock& clock) {
    const auto deadline = steady_clock::now() + patience;
    const auto partitions = event_partitions(log);
    if (!partitions) return partitions.error();
    auto first = first_record(log, deadline);
    if (!first && first.error().code == error_code::not_found)
        first = append_first(log, sealed(beginning, random, clock), deadline);
    if (!first) return first.error();
    auto found = checked(log, keys, *first);
    if (!found) return found;
    if (found->parent_log_id != beginning.parent_log_id || found->generation != beginning.generation ||
        found->snapshot_digest != beginning.snapshot_digest ||
        found->records_digest != beginning.records_digest)
        return runtime::failed_precondition(
            "the log holds another installation already: restore into an empty log");
    return found;
}

result<void> check_secrets(const registry::state::state_view& state, const runtime::key_ring& keys) {
    result<void> all;
    registry::tables::webhooks::each(state, [&](const schemas::webhook& hook) {
        const auto check = [&](const std::string& binding, const std::string& sealed) {
            if (!all || sealed.empty()) return;
            if (const auto opened = keys.unseal(binding, sealed); !opened)
                all = runtime::failed_precondition({"the secret of webhook ", hook.id.value,
                                                    " does not open: ", opened.error().message,
                                                    "; give the key ring with all its older keys"});
        };
        check(hook.seal_binding, hook.sealed_secret);
        check(hook.earlier_secret.seal_binding, hook.earlier_secret.sealed_secret);
        for (const schemas::webhook_header& header : hook.headers)
            check(header.seal_binding, header.sealed_value);
        return all.has_value();
    });
    return all;
}

}  // namespace herald::storage::node
