#include "tests/simulation/simulation.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>

#include "events/event_topic.hpp"
#include "events/log/topics.hpp"
#include "schemas/binary.hpp"
#include "schemas/commands/all.hpp"
#include "tests/simulation/api_node.hpp"
#include "tests/simulation/client.hpp"
#include "tests/simulation/faults.hpp"
#include "tests/simulation/invariants.hpp"
#include "tests/simulation/mutations.hpp"
#include "tests/simulation/receivers.hpp"
#include "tests/simulation/reference.hpp"
#include "tests/simulation/worker_machine.hpp"
#include "tests/simulation/world.hpp"
#include "tests/support/commands.hpp"

namespace herald::test {
namespace {

constexpr std::int64_t day_ms = 24ll * 3'600'000;
/// Within this time after the last fault everything must be right (invariant 12).
constexpr std::int64_t peace_ms = 60'000;
/// The longest wait of a delivery that failed during the faults, plus a margin: a day more for one that was
/// parked before the log's clock went back.
constexpr std::int64_t deliveries_ms = 80ll * 3'600'000;
constexpr std::int64_t hour_ms = 3'600'000;

class run {
  public:
    run(std::uint64_t seed, const mutation& broken)
        : x_world(seed), x_broken(broken), x_setup(x_world.time.start_thread()), x_broker(x_setup.time()) {
        x_kind = x_world.chance.one_in(4) ? storage::node::node_kind::standalone
                                          : storage::node::node_kind::cluster;
        x_log = std::make_unique<events::log::memory::memory_log>(
            x_broker, [this](std::function<void()> task) { x_setup.post(std::move(task)); });
    }

    void play() {
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

  private:
    void found_installation() {
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
        append({std::string(events::log::topic::commands), 0}, "",
               schemas::commands::seal_envelope(x_stranger));
    }

    /// The event topics outlive a generation: what they hold from the previous one must not be mistaken for
    /// the present one's.
    std::uint32_t leave_traces_of_a_generation(std::uint32_t event_partitions) {
        for (const std::string_view topic : events::event_topics) {
            for (std::uint32_t partition = 0; partition < event_partitions; ++partition) {
                const std::int64_t last = x_world.chance.between(0, 8);
                for (std::int64_t sequence = 1; sequence <= last; ++sequence) {
                    schemas::event old;
                    old.id = "1-" + std::to_string(sequence);
                    old.generation = 1;
                    old.offset = old.partition_sequence = static_cast<std::uint64_t>(sequence);
                    append({std::string(topic), static_cast<std::int32_t>(partition)}, "1",
                           schemas::encode(old));
                }
            }
        }
        const schemas::subscribers_head head{1, 500};
        append({std::string(events::log::topic::subscribers), 0}, "head", schemas::encode(head));
        return 2;
    }

    void append(const events::log::topic_partition& where, std::string key, std::string value) {
        const auto producer = x_log->open_producer(events::log::producer_kind::ordinary);
        bool done = false;
        (void)producer->append(where, std::move(key), std::move(value),
                               [&](const auto& landed) { done = landed.has_value(); });
        x_world.time.run_until(x_world.time.now_ms() + 1);
        if (!done) throw rule_broken{"the set-up could not append"};
    }

    void start_processes() {
        const bool alone = x_kind == storage::node::node_kind::standalone;
        const std::int64_t nodes = alone ? 1 : x_world.chance.between(2, 3);
        for (std::int64_t number = 1; number <= nodes; ++number) {
            api_node::settings how{"node-" + std::to_string(number),
                                   x_kind,
                                   x_broker,
                                   x_setup.time(),
                                   x_faults,
                                   x_broken,
                                   nullptr};
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

    /// Called from within the node.
    void node_failed(std::size_t index, const storage::node::node_failure& why) {
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

    /// Some periods of trouble, and between them hours or days during which everything sleeps.
    void trouble() {
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

    /// Timers are due after 24 h, 5 d, 30 d: just before, just after, anywhere.
    std::int64_t some_long_while() {
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

    void disturb() {
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

    void set_the_brokers_clock() {
        dice& chance = x_world.chance;
        const std::int64_t by =
            chance.one_in(2) ? chance.between(-90'000, 90'000) : chance.between(-3, 3) * day_ms;
        const bool never_goes_back = x_kind == storage::node::node_kind::standalone;
        x_setup.clock().jump_wall_ms(never_goes_back ? std::abs(by) : by);
    }

    void fill_a_disk() {
        api_node& node = *x_world.chance.pick(x_nodes);
        node.set_disk_full(true);
        x_setup.run_at(x_world.time.now_ms() + x_world.chance.between(100, 12'000),
                       [&node] { node.set_disk_full(false); });
    }

    /// What another installation, an earlier generation or a broken disk put into the log: never a valid
    /// command.
    void append_strange_bytes() {
        dice& chance = x_world.chance;
        schemas::commands::command_envelope command = x_stranger;
        chance.source().fill(command.command_id.data(), command.command_id.size());
        command.sender_clock_ms = x_world.time.now_ms() + virtual_time::wall_start_ms;
        command.not_after_ms = INT64_MAX;
        command.type = schemas::commands::set_feature_flag::type;
        command.body =
            schemas::encode(schemas::commands::set_feature_flag{"promote_events", true, "strange"});
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

    std::size_t some(std::size_t most) {
        return static_cast<std::size_t>(x_world.chance.between(0, static_cast<std::int64_t>(most)));
    }

    template <class Machine, class... Loss>
    void crash_and_restart(Machine& machine, Loss... lost) {
        if (!machine.running()) return;
        machine.crash(lost...);
        x_setup.run_at(x_world.time.now_ms() + x_world.chance.between(0, 15'000), [&machine] {
            if (!machine.running()) machine.start();
        });
    }

    /// The thread of any process.
    process_thread* any_thread() {
        dice& chance = x_world.chance;
        if (chance.one_in(2)) {
            api_node& node = *chance.pick(x_nodes);
            return node.running() ? &node.thread() : nullptr;
        }
        worker_machine& worker = *chance.pick(x_workers);
        return worker.running() ? &worker.thread() : nullptr;
    }

    void stop_for_a_while() {
        if (process_thread* thread = any_thread())
            thread->pause_until(x_world.time.now_ms() + x_world.chance.between(100, 25'000));
    }

    /// An API node's clock; workers start with clocks that are days off.
    void set_a_clock() {
        dice& chance = x_world.chance;
        const std::int64_t by =
            chance.one_in(2) ? chance.between(-90'000, 90'000) : chance.between(-3, 3) * day_ms;
        api_node& node = *chance.pick(x_nodes);
        if (node.running()) node.thread().clock().jump_wall_ms(by);
    }

    void move_partitions() {
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

    /// Cuts the power of machine and log: whatever was not synced is gone everywhere, as if it had never
    /// existed.
    void cut_power() {
        for (const auto& node : x_nodes) crash_and_restart(*node, some(4));
        for (const auto& worker : x_workers) crash_and_restart(*worker);
        x_broker.lose_unsynced(some(x_broker.unsynced()));
    }

    void make_peace() {
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
            throw rule_broken{
                "a client still waits for an answer a minute after the last fault (invariant 12)"};
    }

    /// What a later version would append while these nodes run: none of it may stop them.
    void ask_for_a_newer_version() {
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
            append({std::string(events::log::topic::commands), 0}, "",
                   schemas::commands::seal_envelope(newer));
        }
        run_for(5'000);
    }

    /// Runs only the workers: retries take hours, and nothing else is needed for them.
    void wait_for_deliveries(const reference& truth) {
        for (const auto& node : x_nodes) node->crash(0);
        const std::int64_t start = x_world.time.now_ms();
        while (x_world.time.now_ms() < start + deliveries_ms && undelivered(truth, *x_log, x_receivers))
            run_for(std::max<std::int64_t>(10'000, (x_world.time.now_ms() - start) / 10));
    }

    void run_for(std::int64_t ms) {
        const std::int64_t end = x_world.time.now_ms() + ms;
        while (x_world.time.now_ms() < end)
            x_world.time.run_until(std::min(end, x_world.time.now_ms() + 1'000));
    }

    void judge() {
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

    /// Something that no node may survive, after everything else was judged.
    void disaster() {
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

    /// One node's disk returns something other than what was written. Among three nodes, that one rebuilds
    /// its state; with two, nobody knows which it is, and neither may write.
    void spoil_a_state() {
        const auto index = some(x_nodes.size() - 1);
        api_node& spoilt = *x_nodes[index];
        spoilt.crash(0);
        spoilt.spoil_state();
        spoilt.start();
        run_for(30'000);
        if (!x_stopped.empty())
            throw rule_broken{"a node stopped for good whose state was spoilt, or another's"};
        const std::string name = "node " + std::to_string(index + 1);
        if (x_nodes.size() == 2) {
            for (const auto& node : x_nodes)
                if (node->status().writes_refused == std::nullopt)
                    throw rule_broken{"of two nodes whose states differ one takes writes"};
            return;
        }
        if (x_rebuilt != std::set{index})
            throw rule_broken{name +
                              ", whose state differs from the others', did not mark it for rebuilding"};
        for (const auto& node : x_nodes) {
            const auto& first = x_nodes.front()->status();
            if (node->status().next_offset != first.next_offset || node->status().hash != first.hash)
                throw rule_broken{name + " has not the others' state again (invariant 7)"};
        }
    }

    void append_unknown_command() {
        append_by_hand(unknown_command);
        run_for(30'000);
        if (x_stopped.size() < x_nodes.size())
            throw rule_broken{"a node went on after a command that it does not know"};
    }

    /// The newest records are lost, and others take their offsets; the leader that did it is a new one, so
    /// every connection breaks.
    void cut_the_log() {
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

    /// A well-formed command that no node sent.
    void append_by_hand(schemas::commands::command_type type) {
        schemas::commands::command_envelope command;
        command.log_id = x_stranger.log_id;
        command.generation = x_stranger.generation;
        x_world.chance.source().fill(command.command_id.data(), command.command_id.size());
        command.sender_clock_ms = x_world.time.now_ms() + virtual_time::wall_start_ms;
        command.not_after_ms = INT64_MAX;
        command.type = type;
        append({std::string(events::log::topic::commands), 0}, "", schemas::commands::seal_envelope(command));
    }

    world x_world;
    bool x_is_disaster = false;
    std::set<std::size_t> x_stopped;
    std::set<std::size_t> x_rebuilt;
    const mutation& x_broken;
    /// Standalone: one machine with an embedded log, which a power cut takes down with everything on it.
    storage::node::node_kind x_kind = storage::node::node_kind::cluster;
    const bool x_loses_positions = x_world.chance.one_in(8);
    process_thread& x_setup;
    events::log::memory::memory_broker x_broker;
    /// Without a key, a command that the log repeats takes effect twice: nobody could distinguish it from
    /// another request.
    const bool x_log_repeats_commands = x_world.chance.one_in(4);
    /// In some runs a deposed leader of the log answers for a while.
    const std::int64_t x_deposed_ms = x_world.chance.one_in(4) ? 5'000 : 0;
    seeded_faults x_faults{x_world, {x_log_repeats_commands, x_deposed_ms}};
    std::unique_ptr<events::log::memory::memory_log> x_log;
    std::unique_ptr<events::log::producer> x_outsider;
    schemas::commands::command_envelope x_stranger;
    receivers x_receivers{x_world};
    std::unique_ptr<client> x_client;  // a node that ends calls it
    std::vector<std::unique_ptr<api_node>> x_nodes;
    std::vector<std::unique_ptr<worker_machine>> x_workers;
};

}  // namespace

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
