// One run of the simulation (simulation.hpp), with all that it is made of.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "schemas/commands/all.hpp"
#include "tests/simulation/api_node.hpp"
#include "tests/simulation/client.hpp"
#include "tests/simulation/faults.hpp"
#include "tests/simulation/mutations.hpp"
#include "tests/simulation/receivers.hpp"
#include "tests/simulation/reference.hpp"
#include "tests/simulation/worker_machine.hpp"
#include "tests/simulation/world.hpp"

namespace herald::test {

inline constexpr std::int64_t hour_ms = 3'600'000;
inline constexpr std::int64_t day_ms = 24 * hour_ms;

class run {
  public:
    run(std::uint64_t seed, const mutation& broken)
        : x_world(seed), x_broken(broken), x_setup(x_world.time.start_thread()), x_broker(x_setup.time()) {
        x_kind = x_world.chance.one_in(4) ? storage::node::node_kind::standalone
                                          : storage::node::node_kind::cluster;
        x_log = std::make_unique<events::log::memory::memory_log>(
            x_broker, [this](std::function<void()> task) { x_setup.post(std::move(task)); });
    }

    void play();

  private:
    void found_installation();
    /// The event topics outlive a generation: what they hold from the previous one must not be mistaken for
    /// the present one's.
    std::uint32_t leave_traces_of_a_generation(std::uint32_t event_partitions);
    void append(const events::log::topic_partition& where, std::string key, std::string value);
    void start_processes();
    void make_peace();
    /// What a later version would append while these nodes run: none of it may stop them.
    void ask_for_a_newer_version();
    /// Runs only the workers: retries take hours, and nothing else is needed for them.
    void wait_for_deliveries(const reference& truth);
    void run_for(std::int64_t ms);
    void judge();

    // ---- what goes wrong: trouble.cpp

    /// Some periods of trouble, and between them hours or days during which everything sleeps.
    void trouble();
    /// Timers are due after 24 h, 5 d, 30 d: just before, just after, anywhere.
    std::int64_t some_long_while();
    void disturb();
    void set_the_brokers_clock();
    void fill_a_disk();
    /// What another installation, an earlier generation or a broken disk put into the log: never a valid
    /// command.
    void append_strange_bytes();
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
    process_thread* any_thread();
    void stop_for_a_while();
    /// An API node's clock; workers start with clocks that are days off.
    void set_a_clock();
    void move_partitions();
    /// Cuts the power of machine and log: whatever was not synced is gone everywhere, as if it had never
    /// existed.
    void cut_power();

    // ---- what no node may survive: disaster.cpp

    /// Called from within the node.
    void node_failed(std::size_t index, const storage::node::node_failure& why);
    /// Something that no node may survive, after everything else was judged.
    void disaster();
    /// One node's disk returns something other than what was written. Among three nodes, that one rebuilds
    /// its state; with two, nobody knows which it is, and neither may write.
    void spoil_a_state();
    void append_unknown_command();
    /// The newest records are lost, and others take their offsets; the leader that did it is a new one, so
    /// every connection breaks.
    void cut_the_log();
    /// A well-formed command that no node sent.
    void append_by_hand(schemas::commands::command_type type);

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

}  // namespace herald::test
