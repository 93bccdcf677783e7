// What goes wrong in a run: crashes, pauses, clocks, disks, the network, the log; hours that pass.
#include <algorithm>
#include <cstdlib>

#include "events/event_topic.hpp"
#include "events/log/topics.hpp"
#include "schemas/binary.hpp"
#include "tests/simulation/run.hpp"

namespace herald::test {

void run::trouble() {
    const std::int64_t leaps = x_world.chance.one_in(2) ? x_world.chance.between(1, 3) : 0;
    for (std::int64_t stretch = 0; stretch <= leaps; ++stretch) {
        if (stretch > 0) x_world.time.leap(some_long_while());
        const std::int64_t longest = leaps > 0 ? 45'000 : 90'000;
        const std::int64_t end = x_world.time.now_ms() + x_world.chance.between(15'000, longest);
        while (x_world.time.now_ms() < end) {
            x_world.time.run_until(x_world.time.now_ms() + x_world.chance.between(1, 600));
            if (x_world.chance.one_in(8))
                disturb();
            else
                x_client->act();
        }
    }
}

std::int64_t run::some_long_while() {
    dice& chance = x_world.chance;
    switch (chance.between(0, 4)) {
        case 0:
            return chance.between(60'000, 6 * hour_ms);
        case 1:
        case 2:
            return chance.between(22 * hour_ms, 26 * hour_ms);
        case 3:
            return 5 * day_ms + chance.between(-2 * hour_ms, 2 * hour_ms);
        default:
            return chance.between(6 * day_ms, 33 * day_ms);
    }
}

void run::disturb() {
    dice& chance = x_world.chance;
    switch (chance.between(0, 11)) {
        case 8:
            return set_the_brokers_clock();
        case 9:
            return fill_a_disk();
        case 10:
            return append_strange_bytes();
        case 0:
            if (x_kind == storage::node::node_kind::standalone) return cut_power();
            [[fallthrough]];
        case 1:
            return crash_and_restart(*chance.pick(x_nodes), std::size_t{0});
        case 2:
            return crash_and_restart(*chance.pick(x_nodes), some(4));
        case 3:
            return crash_and_restart(*chance.pick(x_workers));
        case 4:
            return stop_for_a_while();
        case 5:
            return set_a_clock();
        case 6:
            return move_partitions();
        default:
            if (x_broker.held() > 0) x_broker.release(some(x_broker.held() - 1));
            return;
    }
}

void run::set_the_brokers_clock() {
    dice& chance = x_world.chance;
    const std::int64_t by =
        chance.one_in(2) ? chance.between(-90'000, 90'000) : chance.between(-3, 3) * day_ms;
    const bool never_goes_back = x_kind == storage::node::node_kind::standalone;
    x_setup.clock().jump_wall_ms(never_goes_back ? std::abs(by) : by);
}

void run::fill_a_disk() {
    api_node& node = *x_world.chance.pick(x_nodes);
    node.set_disk_full(true);
    x_setup.run_at(x_world.time.now_ms() + x_world.chance.between(100, 12'000),
                   [&node] { node.set_disk_full(false); });
}

void run::append_strange_bytes() {
    dice& chance = x_world.chance;
    schemas::commands::command_envelope command = x_stranger;
    chance.source().fill(command.command_id.data(), command.command_id.size());
    command.sender_clock_ms = x_world.time.now_ms() + virtual_time::wall_start_ms;
    command.not_after_ms = INT64_MAX;
    command.type = schemas::commands::set_feature_flag::type;
    command.body = schemas::encode(schemas::commands::set_feature_flag{"promote_events", true, "strange"});
    command.request.principal.value = 1;
    command.request.credential_hash = client::admin_key_hash;
    const std::int64_t what = chance.between(0, 2);
    if (what == 0) command.log_id.front() ^= 1;
    if (what == 1) ++command.generation;
    std::string bytes = schemas::commands::seal_envelope(command);
    if (what == 2) bytes[4 + some(7)] ^= 1;  // of the checksum, which follows HRC1
    (void)x_outsider->append({std::string(events::log::topic::commands), 0}, "", std::move(bytes),
                             [](const auto&) {});
}

process_thread* run::any_thread() {
    dice& chance = x_world.chance;
    if (chance.one_in(2)) {
        api_node& node = *chance.pick(x_nodes);
        return node.running() ? &node.thread() : nullptr;
    }
    worker_machine& worker = *chance.pick(x_workers);
    return worker.running() ? &worker.thread() : nullptr;
}

void run::stop_for_a_while() {
    if (process_thread* thread = any_thread())
        thread->pause_until(x_world.time.now_ms() + x_world.chance.between(100, 25'000));
}

void run::set_a_clock() {
    dice& chance = x_world.chance;
    const std::int64_t by =
        chance.one_in(2) ? chance.between(-90'000, 90'000) : chance.between(-3, 3) * day_ms;
    api_node& node = *chance.pick(x_nodes);
    if (node.running()) node.thread().clock().jump_wall_ms(by);
}

void run::move_partitions() {
    dice& chance = x_world.chance;
    const std::string group{chance.one_in(3) ? events::log::group::retry : events::log::group::events};
    std::vector<events::log::memory::member_id> members = x_broker.members(group);
    if (members.empty()) return;
    switch (chance.between(0, 2)) {
        case 0:
            return x_broker.rebalance(group);
        case 1:
            x_broker.expel(group, chance.pick(members));
            return x_broker.rebalance(group);
        default:
            break;
    }
    const auto partition = static_cast<std::int32_t>(chance.between(0, 2));
    for (const std::string_view topic : events::event_topics)
        if (group == events::log::group::events)
            x_broker.move(group, {std::string(topic), partition}, chance.pick(members));
}

void run::cut_power() {
    for (const auto& node : x_nodes) crash_and_restart(*node, some(4));
    for (const auto& worker : x_workers) crash_and_restart(*worker);
    x_broker.lose_unsynced(some(x_broker.unsynced()));
}

}  // namespace herald::test
