// A node that answers predictions: the node's own thread and log, and beside them a thread that routes and
// sends, with the product's gate between (promise P7).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/serving/serving_gate.hpp"
#include "tests/simulation/api_node.hpp"
#include "tests/simulation/faults.hpp"
#include "tests/simulation/world.hpp"

namespace herald::test::serving {

/// What is done otherwise than the design says. All false: nothing.
struct broken_rules {
    bool has_no_second_look = false;
    bool has_no_lease = false;
    bool lease_begins_when_heard = false;
    bool clock_stops_with_the_process = false;
    bool speaks_before_quiescence = false;
    bool shows_late = false;
    bool serves_longer_than_told = false;
    bool names_nobody = false;
    bool offset_not_compared = false;
    bool answers_at_once = false;
};

/// The process's clock as it would be if it did not count the time for which the process was stopped.
class stopping_clock final : public runtime::clock {
  public:
    explicit stopping_clock(const runtime::clock& true_time) : x_time(true_time) {}
    std::int64_t wall_ms() const noexcept override { return x_time.wall_ms(); }
    std::int64_t steady_ms() const noexcept override { return x_time.steady_ms() - x_stopped_ms; }
    void stop_for(std::int64_t ms) { x_stopped_ms += ms; }

  private:
    const runtime::clock& x_time;
    std::int64_t x_stopped_ms = 0;
};

class serving_node {
  public:
    /// A prediction's first byte goes out.
    using byte_sent = std::function<void(const std::string& node, schemas::build_id)>;

    serving_node(world&, std::string name, storage::node::node_kind, events::log::memory::memory_broker&,
                 const runtime::clock& brokers_time, const broken_rules&, byte_sent);

    void start();
    void crash(std::size_t writes_lost);
    bool running() const { return x_machine.running(); }
    bool serves() const { return x_machine.serves(); }
    const std::string& name() const { return x_name; }
    api_node& machine() { return x_machine; }
    /// Whether the level is in force from which builds are served.
    bool is_of_serving_level() const { return x_level >= schemas::commands::serving_level; }
    void cut_off_for(std::int64_t ms) { x_faults.cut_off_until(x_world.time.now_ms() + ms); }
    void heal() { x_faults.heal(); }
    /// One of its threads stands still, or the whole process.
    void pause_log(std::int64_t ms) { x_machine.thread().pause_until(x_world.time.now_ms() + ms); }
    void pause_serving(std::int64_t ms) {
        if (!x_is_sending) x_serving->pause_until(x_world.time.now_ms() + ms);
    }
    void stop(std::int64_t ms);

    /// A prediction of that build comes in.
    void predict(schemas::build_id);
    /// As registry_node::options::quiesce.
    void quiesce(std::function<void()> done);

  private:
    struct prediction {
        schemas::build_id build;
        std::shared_ptr<api::serving::build_safety> safety;
    };
    void change(storage::node::registry_node::options&);
    void shown(const storage::node::shown_write&);
    void take(const storage::registry::state::state_view&);
    bool passes(const prediction&);
    bool has_lease();
    void finish(const prediction&);

    world& x_world;
    const std::string x_name;
    const broken_rules& x_broken;
    const byte_sent x_sent;
    const std::int64_t x_grace_ms;
    seeded_faults x_faults;
    const mutation x_nothing{};
    api_node x_machine;
    process_thread* x_serving = nullptr;
    std::unique_ptr<stopping_clock> x_clock;
    std::unique_ptr<api::serving::serving_gate> x_gate;
    std::map<schemas::build_id, std::shared_ptr<api::serving::build_safety>> x_builds;
    std::uint32_t x_level = 0;
    bool x_is_known = false;    // the log had been applied to its end
    bool x_is_sending = false;  // between the second look and the first byte
    std::int64_t x_last_serves_until_ms = 0;
    std::int64_t x_heard_ms = 0;  // when that was first seen
};

}  // namespace herald::test::serving
