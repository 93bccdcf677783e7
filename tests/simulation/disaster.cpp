// Something that no node may survive, after everything else was judged.
#include <set>

#include "events/log/topics.hpp"
#include "tests/simulation/run.hpp"

namespace herald::test {

void run::node_failed(std::size_t index, const storage::node::node_failure& why) {
    // A late heartbeat of an earlier process of this node may look like a later one's: then this process
    // gives way.
    if (x_is_disaster && why.what == storage::node::node_failure::kind::diverged) {
        x_rebuilt.insert(index);
        return x_setup.post([this, index] {
            x_nodes[index]->crash(0);
            x_nodes[index]->wipe_state();
            x_nodes[index]->start();
        });
    }
    if (x_is_disaster && why.what != storage::node::node_failure::kind::superseded) {
        x_stopped.insert(index);
        return x_setup.post([this, index] { x_nodes[index]->crash(0); });
    }
    if (why.what != storage::node::node_failure::kind::superseded)
        throw rule_broken{"node " + std::to_string(index + 1) + " cannot go on: " + why.message};
    x_setup.post([this, index] { crash_and_restart(*x_nodes[index], std::size_t{0}); });
}

void run::disaster() {
    x_is_disaster = true;
    x_world.agreed.end();
    for (const auto& worker : x_workers)
        if (worker->running()) worker->crash();
    for (const auto& node : x_nodes)
        if (!node->running()) node->start();
    run_for(10'000);
    switch (x_world.chance.between(0, x_nodes.size() > 1 ? 3 : 2)) {
        case 0:
            return append_unknown_command();
        case 1:
        case 2:
            return cut_the_log();
        default:
            return spoil_a_state();
    }
}

void run::spoil_a_state() {
    const auto index = some(x_nodes.size() - 1);
    api_node& spoilt = *x_nodes[index];
    spoilt.crash(0);
    spoilt.spoil_state();
    spoilt.start();
    run_for(30'000);
    if (!x_stopped.empty()) throw rule_broken{"a node stopped for good whose state was spoilt, or another's"};
    const std::string name = "node " + std::to_string(index + 1);
    if (x_nodes.size() == 2) {
        for (const auto& node : x_nodes)
            if (node->status().writes_refused == std::nullopt)
                throw rule_broken{"of two nodes whose states differ one takes writes"};
        return;
    }
    if (x_rebuilt != std::set{index})
        throw rule_broken{name + ", whose state differs from the others', did not mark it for rebuilding"};
    for (const auto& node : x_nodes) {
        const auto& first = x_nodes.front()->status();
        if (node->status().next_offset != first.next_offset || node->status().hash != first.hash)
            throw rule_broken{name + " has not the others' state again (invariant 7)"};
    }
}

void run::append_unknown_command() {
    append_by_hand(unknown_command);
    run_for(30'000);
    if (x_stopped.size() < x_nodes.size())
        throw rule_broken{"a node went on after a command that it does not know"};
}

void run::cut_the_log() {
    const events::log::topic_partition where{std::string(events::log::topic::commands), 0};
    const std::int64_t kept = x_broker.records(where).back().offset - x_world.chance.between(0, 6);
    std::set<std::size_t> must_stop;
    for (std::size_t index = 0; index < x_nodes.size(); ++index)
        if (x_nodes[index]->next_offset() > static_cast<std::uint64_t>(kept)) must_stop.insert(index);
    x_faults.cut_off_until(x_world.time.now_ms() + 3'000);
    x_broker.cut(where, kept);
    for (std::int64_t more = x_world.chance.between(0, 12); more > 0; --more)
        append_by_hand(schemas::commands::no_operation::type);
    run_for(90'000);
    for (const std::size_t index : must_stop)
        if (!x_stopped.contains(index))
            throw rule_broken{"node " + std::to_string(index + 1) +
                              " went on after the log was cut before what it had applied"};
}

void run::append_by_hand(schemas::commands::command_type type) {
    schemas::commands::command_envelope command;
    command.log_id = x_stranger.log_id;
    command.generation = x_stranger.generation;
    x_world.chance.source().fill(command.command_id.data(), command.command_id.size());
    command.sender_clock_ms = x_world.time.now_ms() + virtual_time::wall_start_ms;
    command.not_after_ms = INT64_MAX;
    command.type = type;
    append({std::string(events::log::topic::commands), 0}, "", schemas::commands::seal_envelope(command));
}

}  // namespace herald::test
