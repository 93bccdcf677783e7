#include "tests/simulation/simulation.hpp"

#include <algorithm>

#include "events/event_topic.hpp"
#include "events/log/topics.hpp"
#include "schemas/binary.hpp"
#include "tests/simulation/invariants.hpp"
#include "tests/simulation/run.hpp"
#include "tests/support/commands.hpp"

namespace herald::test {
namespace {

/// Within this time after the last fault everything must be right (invariant 12).
constexpr std::int64_t peace_ms = 60'000;
/// The longest wait of a delivery that failed during the faults, plus a margin: a day more for one that was
/// parked before the log's clock went back.
constexpr std::int64_t deliveries_ms = 80 * hour_ms;

}  // namespace

void run::play() {
    found_installation();
    x_outsider = x_log->open_producer(events::log::producer_kind::ordinary);
    start_processes();
    x_client = std::make_unique<client>(x_world, x_nodes, x_deposed_ms);
    x_client->prepare();
    trouble();
    make_peace();
    ask_for_a_newer_version();
    judge();
    disaster();
}

void run::found_installation() {
    if (!x_log->create_topics()) throw rule_broken{"the topics cannot be created"};
    schemas::commands::genesis first;
    x_world.chance.source().fill(first.log_id.data(), first.log_id.size());
    first.event_partitions = static_cast<std::uint32_t>(x_world.chance.between(1, 3));
    first.organization_name = client::workspace;
    first.admin_uuid = some_uuid;
    first.admin_email = client::first_admin_email;
    first.admin_key_hash = client::admin_key_hash;
    if (x_world.chance.one_in(4)) first.generation = leave_traces_of_a_generation(first.event_partitions);
    x_stranger.log_id = first.log_id;
    x_stranger.generation = first.generation;
    x_stranger.sender_clock_ms = x_setup.time().wall_ms();
    x_stranger.not_after_ms = x_stranger.sender_clock_ms + day_ms;
    x_stranger.type = schemas::commands::genesis::type;
    x_stranger.body = schemas::encode(first);
    append({std::string(events::log::topic::commands), 0}, "", schemas::commands::seal_envelope(x_stranger));
}

std::uint32_t run::leave_traces_of_a_generation(std::uint32_t event_partitions) {
    for (const std::string_view topic : events::event_topics) {
        for (std::uint32_t partition = 0; partition < event_partitions; ++partition) {
            const std::int64_t last = x_world.chance.between(0, 8);
            for (std::int64_t sequence = 1; sequence <= last; ++sequence) {
                schemas::event old;
                old.id = "1-" + std::to_string(sequence);
                old.generation = 1;
                old.offset = old.partition_sequence = static_cast<std::uint64_t>(sequence);
                append({std::string(topic), static_cast<std::int32_t>(partition)}, "1", schemas::encode(old));
            }
        }
    }
    const schemas::subscribers_head head{1, 500};
    append({std::string(events::log::topic::subscribers), 0}, "head", schemas::encode(head));
    return 2;
}

void run::append(const events::log::topic_partition& where, std::string key, std::string value) {
    const auto producer = x_log->open_producer(events::log::producer_kind::ordinary);
    bool done = false;
    (void)producer->append(where, std::move(key), std::move(value),
                           [&](const auto& landed) { done = landed.has_value(); });
    x_world.time.run_until(x_world.time.now_ms() + 1);
    if (!done) throw rule_broken{"the set-up could not append"};
}

void run::start_processes() {
    const bool alone = x_kind == storage::node::node_kind::standalone;
    const std::int64_t nodes = alone ? 1 : x_world.chance.between(2, 3);
    for (std::int64_t number = 1; number <= nodes; ++number) {
        api_node::settings how{
            "node-" + std::to_string(number), x_kind, x_broker, x_setup.time(), x_faults, x_broken, nullptr};
        const auto index = static_cast<std::size_t>(number - 1);
        how.on_failure = [this, index](storage::node::node_failure why) {
            if (x_broken.failure) x_broken.failure(why);
            node_failed(index, why);
        };
        x_nodes.push_back(std::make_unique<api_node>(x_world, std::move(how)));
        x_nodes.back()->start();
    }
    const std::int64_t workers = alone ? 1 : x_world.chance.between(1, 3);
    for (std::int64_t number = 1; number <= workers; ++number) {
        worker_machine::settings how{
            x_broker, x_faults, x_receivers, x_broken, x_nodes.front()->store(), x_loses_positions};
        x_workers.push_back(std::make_unique<worker_machine>(x_world, how));
        x_workers.back()->start();
    }
}

void run::make_peace() {
    x_faults.heal();
    x_receivers.heal();
    for (const auto& node : x_nodes) node->set_disk_full(false);
    // Some late records are stored just now, the others never.
    while (x_broker.held() > 0 && x_world.chance.one_in(2)) x_broker.release(0);
    // A new holder of the claim repairs what the late records did to `subscribers`.
    for (const auto& node : x_nodes) {
        if (node->running()) node->crash(0);
        node->start();
    }
    for (const auto& worker : x_workers) {
        if (worker->running() && x_world.chance.one_in(2)) worker->crash();
        if (!worker->running()) worker->start();
    }
    run_for(peace_ms);
    if (!x_client->idle())
        throw rule_broken{"a client still waits for an answer a minute after the last fault (invariant 12)"};
}

void run::ask_for_a_newer_version() {
    schemas::commands::command_envelope newer = x_stranger;
    newer.command_id.fill(0xf1);
    newer.sender_clock_ms = x_world.time.now_ms() + virtual_time::wall_start_ms;
    newer.not_after_ms = INT64_MAX;
    newer.level = schemas::commands::newest_level + 1;
    newer.type = unknown_command;
    newer.body.clear();
    append({std::string(events::log::topic::commands), 0}, "", schemas::commands::seal_envelope(newer));
    // A standalone sends a heartbeat once a minute: nobody could tell that it runs.
    if (x_kind == storage::node::node_kind::cluster) {
        newer.command_id.fill(0xf2);
        newer.level = schemas::commands::raise_level::traits.level;
        newer.type = schemas::commands::raise_level::type;
        newer.body = schemas::encode(schemas::commands::raise_level{schemas::commands::newest_level + 1});
        append({std::string(events::log::topic::commands), 0}, "", schemas::commands::seal_envelope(newer));
    }
    run_for(5'000);
}

void run::wait_for_deliveries(const reference& truth) {
    for (const auto& node : x_nodes) node->crash(0);
    const std::int64_t start = x_world.time.now_ms();
    while (x_world.time.now_ms() < start + deliveries_ms && undelivered(truth, *x_log, x_receivers))
        run_for(std::max<std::int64_t>(10'000, (x_world.time.now_ms() - start) / 10));
}

void run::run_for(std::int64_t ms) {
    const std::int64_t end = x_world.time.now_ms() + ms;
    while (x_world.time.now_ms() < end) x_world.time.run_until(std::min(end, x_world.time.now_ms() + 1'000));
}

void run::judge() {
    const reference truth(*x_log, x_broken.apply);
    check_nodes_agree(truth, x_world.agreed, x_nodes);
    check_answers(truth, x_client->history(), x_log_repeats_commands);
    check_causes(truth);
    if (x_kind == storage::node::node_kind::standalone) check_heartbeats(*x_log);
    check_event_topics(truth, *x_log);
    check_subscribers(truth, *x_log);
    wait_for_deliveries(truth);
    check_deliveries(truth, *x_log, x_receivers);
}

std::optional<std::string> simulate(std::uint64_t seed, std::string_view mutation) {
    run one(seed, mutation_named(mutation));
    try {
        one.play();
    } catch (const rule_broken& broken) {
        return broken.what;
    }
    return std::nullopt;
}

}  // namespace herald::test
