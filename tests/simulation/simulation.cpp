#include "tests/simulation/simulation.hpp"

#include <algorithm>
#include <memory>

#include "events/event_topic.hpp"
#include "events/topics.hpp"
#include "schemas/binary.hpp"
#include "schemas/commands.hpp"
#include "tests/simulation/api_node.hpp"
#include "tests/simulation/client.hpp"
#include "tests/simulation/faults.hpp"
#include "tests/simulation/invariants.hpp"
#include "tests/simulation/mutations.hpp"
#include "tests/simulation/receivers.hpp"
#include "tests/simulation/reference.hpp"
#include "tests/simulation/worker_machine.hpp"
#include "tests/simulation/world.hpp"

namespace herald::simulation {
namespace {

constexpr std::int64_t day_ms = 24ll * 3'600'000;
/// Within this time after the last fault everything must be as it should (invariant 12).
constexpr std::int64_t peace_ms = 60'000;
/// The longest wait of a delivery that failed while there were faults, and then some.
constexpr std::int64_t deliveries_ms = 3ll * 3'600'000;

class run {
  public:
    run(std::uint64_t seed, const mutation& broken)
        : x_world(seed), x_broken(broken), x_setup(x_world.time.start_thread()), x_broker(x_setup.time()) {
        x_kind = x_world.chance.one_in(4) ? storage::node_kind::standalone : storage::node_kind::cluster;
        x_log = std::make_unique<events::memory_log>(
            x_broker, [this](std::function<void()> task) { x_setup.post(std::move(task)); });
    }

    void play() {
        found_installation();
        start_processes();
        x_client = std::make_unique<client>(x_world, x_nodes);
        x_client->prepare();
        trouble();
        make_peace();
        judge();
    }

  private:
    void found_installation() {
        if (!x_log->create_topics()) throw rule_broken{"the topics cannot be created"};
        schemas::genesis first;
        x_world.chance.source().fill(first.log_id.data(), first.log_id.size());
        first.event_partitions = static_cast<std::uint32_t>(x_world.chance.between(1, 3));
        first.organization_name = client::workspace;
        first.admin_email = "first@example.org";
        first.admin_key_hash = client::admin_key_hash;
        if (x_world.chance.one_in(4)) first.generation = leave_traces_of_a_generation(first.event_partitions);
        schemas::command_envelope envelope;
        envelope.log_id = first.log_id;
        envelope.generation = first.generation;
        envelope.sender_clock_ms = x_setup.time().wall_ms();
        envelope.not_after_ms = envelope.sender_clock_ms + day_ms;
        envelope.type = schemas::command_type::genesis;
        envelope.body = schemas::encode(first);
        append({std::string(events::topic::commands), 0}, "", schemas::seal_envelope(envelope));
    }

    /// The event topics outlive a generation: what they hold of the one before must not be mistaken for this
    /// one's.
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
        append({std::string(events::topic::subscribers), 0}, "head", schemas::encode(head));
        return 2;
    }

    void append(const events::topic_partition& where, std::string key, std::string value) {
        const auto producer = x_log->open_producer(events::producer_kind::ordinary);
        bool done = false;
        (void)producer->append(where, std::move(key), std::move(value),
                               [&](const auto& landed) { done = landed.has_value(); });
        x_world.time.run_until(x_world.time.now_ms() + 1);
        if (!done) throw rule_broken{"the set-up could not append"};
    }

    void start_processes() {
        const bool alone = x_kind == storage::node_kind::standalone;
        const std::int64_t nodes = alone ? 1 : x_world.chance.between(2, 3);
        for (std::int64_t number = 1; number <= nodes; ++number) {
            api_node::settings how{
                "node-" + std::to_string(number), x_kind, x_broker, x_faults, x_broken, nullptr};
            const auto index = static_cast<std::size_t>(number - 1);
            how.on_exit = [this, index] {
                x_setup.post([this, index] { crash_and_restart(*x_nodes[index], std::size_t{0}); });
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

    void trouble() {
        const std::int64_t end = x_world.time.now_ms() + x_world.chance.between(20'000, 90'000);
        while (x_world.time.now_ms() < end) {
            x_world.time.run_until(x_world.time.now_ms() + x_world.chance.between(1, 600));
            if (x_world.chance.one_in(8))
                disturb();
            else
                x_client->act();
        }
    }

    void disturb() {
        dice& chance = x_world.chance;
        switch (chance.between(0, 7)) {
            case 0:
                if (x_kind == storage::node_kind::standalone) return cut_power();
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

    /// An API node's; workers start with clocks that are days off.
    void set_a_clock() {
        dice& chance = x_world.chance;
        const std::int64_t by =
            chance.one_in(2) ? chance.between(-90'000, 90'000) : chance.between(-3, 3) * day_ms;
        api_node& node = *chance.pick(x_nodes);
        if (node.running()) node.thread().clock().jump_wall_ms(by);
    }

    void move_partitions() {
        dice& chance = x_world.chance;
        const std::string group{chance.one_in(3) ? events::group::retry : events::group::events};
        std::vector<events::member_id> members = x_broker.members(group);
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
            if (group == events::group::events)
                x_broker.move(group, {std::string(topic), partition}, chance.pick(members));
    }

    /// Machine, log and all: what was not synced is gone, everywhere as if it had never been.
    void cut_power() {
        for (const auto& node : x_nodes) crash_and_restart(*node, some(4));
        for (const auto& worker : x_workers) crash_and_restart(*worker);
        x_broker.lose_unsynced(some(x_broker.unsynced()));
    }

    void make_peace() {
        x_faults.heal();
        x_receivers.heal();
        // Some late records land just now, the others never.
        while (x_broker.held() > 0 && x_world.chance.one_in(2)) x_broker.release(0);
        // A new holder of the claim puts right what the late ones did to `subscribers`.
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

    /// Alone with the workers: retries take hours, and only the workers are needed for them.
    void wait_for_deliveries(const reference& truth) {
        for (const auto& node : x_nodes) node->crash(0);
        const std::int64_t end = x_world.time.now_ms() + deliveries_ms;
        while (x_world.time.now_ms() < end && undelivered(truth, *x_log, x_receivers)) run_for(10'000);
    }

    void run_for(std::int64_t ms) {
        const std::int64_t end = x_world.time.now_ms() + ms;
        while (x_world.time.now_ms() < end)
            x_world.time.run_until(std::min(end, x_world.time.now_ms() + 1'000));
    }

    void judge() {
        const reference truth(*x_log);
        check_nodes_agree(truth, x_world.agreed, x_nodes);
        check_answers(truth, x_client->history(), x_log_repeats_commands);
        check_causes(truth);
        check_event_topics(truth, *x_log);
        check_subscribers(truth, *x_log);
        wait_for_deliveries(truth);
        check_deliveries(truth, *x_log, x_receivers);
    }

    world x_world;
    const mutation& x_broken;
    /// Standalone: one machine with an embedded log, which a power cut takes down with everything on it.
    storage::node_kind x_kind = storage::node_kind::cluster;
    const bool x_loses_positions = x_world.chance.one_in(8);
    process_thread& x_setup;
    events::memory_broker x_broker;
    /// Without a key a command that the log repeats takes effect twice: nobody could tell it from another
    /// wish.
    const bool x_log_repeats_commands = x_world.chance.one_in(4);
    seeded_faults x_faults{x_world.chance, x_log_repeats_commands};
    std::unique_ptr<events::memory_log> x_log;
    receivers x_receivers{x_world};
    std::unique_ptr<client> x_client;  // a node that ends answers it
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

}  // namespace herald::simulation
