// A node that answers predictions: the node's own thread and log, and beside them a thread that routes and
// sends; the product's routes and gate stand between (promise P7).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/serving/route_table.hpp"
#include "tests/simulation/api_node.hpp"
#include "tests/simulation/faults.hpp"
#include "tests/simulation/serving/broken_rules.hpp"
#include "tests/simulation/world.hpp"

namespace herald::test::serving {

/// Of every stage in the runs.
inline constexpr std::string_view access_token = "the token of the runs";

class serving_node {
  public:
    /// A prediction's first byte goes out.
    using byte_sent = std::function<void(const std::string& node, schemas::build_id)>;
    /// The process wants to end: crash() it, but not from within the call.
    using end_wanted = std::function<void(serving_node&)>;

    serving_node(world&, std::string name, storage::node::node_kind, events::log::memory::memory_broker&,
                 const runtime::clock& brokers_time, const broken_rules&, byte_sent, end_wanted);
    ~serving_node();

    void start();
    void crash(std::size_t writes_lost);
    /// As a process that is told to end; it then wants to. In a cluster it says farewell.
    void drain();
    bool running() const { return x_machine.running(); }
    bool serves() const { return x_machine.serves(); }
    const std::string& name() const { return x_name; }
    api_node& machine() { return x_machine; }
    void cut_off_for(std::int64_t ms) { x_faults.cut_off_until(x_world.time.now_ms() + ms); }
    void heal() { x_faults.heal(); }
    /// One of its threads stands still, or the whole process.
    void pause_log(std::int64_t ms) { x_machine.thread().pause_until(x_world.time.now_ms() + ms); }
    void pause_serving(std::int64_t ms) {
        if (!x_is_sending) x_serving->pause_until(x_world.time.now_ms() + ms);
    }
    void stop(std::int64_t ms);

    /// A prediction comes in.
    void predict(const std::string& path);
    /// As registry_node::options::quiesce.
    void quiesce(std::function<void()> done);

  private:
    class process;
    void change(storage::node::registry_node::options&);
    void tell(std::function<void()> done);
    std::int64_t gate_time_ms();
    void finish(const std::shared_ptr<const api::serving::component_route>&);

    world& x_world;
    const std::string x_name;
    const storage::node::node_kind x_kind;
    const runtime::clock& x_log_clock;
    const broken_rules& x_broken;
    const byte_sent x_sent;
    const end_wanted x_end;
    const std::int64_t x_grace_ms;
    seeded_faults x_faults;
    const mutation x_nothing{};
    api_node x_machine;
    process_thread* x_serving = nullptr;
    std::unique_ptr<process> x_process;
    bool x_is_sending = false;      // between the second look and the first byte
    std::int64_t x_stopped_ms = 0;  // for how long this process was
    std::int64_t x_told_ms = 0;     // when a heartbeat went out
    std::int64_t x_newest_ms = 0;   // when the newest heartbeat was sent
    std::int64_t x_last_until_ms = 0;
    std::int64_t x_heard_ms = 0;  // when that was first seen
};

}  // namespace herald::test::serving
