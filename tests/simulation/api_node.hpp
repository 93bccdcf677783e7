// An API node without HTTP: the engine over a state that outlives crashes, heartbeats, the claim, the
// publisher.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "schemas/commands/all.hpp"
#include "storage/node/node.hpp"
#include "storage/registry/state/state.hpp"
#include "tests/log/memory/memory_log.hpp"
#include "tests/simulation/mutations.hpp"
#include "tests/simulation/world.hpp"

namespace herald::test {

/// What a client asks for. An empty key: none.
struct request {
    schemas::commands::command_type type = schemas::commands::no_operation::type;
    std::string body;
    schemas::user_id user;
    std::string credential_hash;
    std::string idempotency_key;
};

/// What the client is told. `unavailable`: 503, `unknown`: 500 "outcome unknown".
struct reply {
    enum class kind : std::uint8_t { answered, unavailable, unknown };
    kind what = kind::answered;
    schemas::commands::outcome outcome;  // when answered
    schemas::uuid command{};             // the id that was sent; zero when the client no longer waits
};
using reply_handler = std::function<void(const reply&)>;

/// A state store whose newest writes can be lost, as in a power cut without fsync.
class losing_store final : public storage::registry::state::state_store {
  public:
    /// Reports the state after every write to `agreed`.
    losing_store(agreement& agreed, std::string node) : x_agreed(agreed), x_node(std::move(node)) {}
    result<void> write(const storage::registry::state::row_changes&) override;
    std::shared_ptr<const storage::registry::state::state_view> view() const override {
        return x_rows->view();
    }
    void lose_newest(std::size_t writes);
    /// Flips one bit of the stored rows.
    void spoil();
    void wipe();
    void set_full(bool is_full) { x_is_full = is_full; }

  private:
    static constexpr std::size_t writes_kept = 8;
    agreement& x_agreed;
    const std::string x_node;
    std::unique_ptr<storage::registry::state::state_store> x_rows =
        storage::registry::state::make_memory_state();
    std::deque<storage::registry::state::row_changes> x_undo;  // oldest first
    bool x_is_full = false;
};

/// The machine: its disk and its name outlive the processes that run on it, one after another.
class api_node {
  public:
    struct settings {
        std::string name;
        storage::node::node_kind kind = storage::node::node_kind::cluster;
        events::log::memory::memory_broker& broker;
        const runtime::clock& brokers_time;
        events::log::memory::memory_faults& faults;
        const mutation& broken;
        /// The process wants to end: crash() it, but not from within the call.
        std::function<void(const storage::node::node_failure&)> on_failure;
        /// At each start: what this node has beside the others' options. May be empty.
        std::function<void(storage::node::registry_node::options&)> change_options = {};
    };
    api_node(world&, settings);
    ~api_node();

    void start();
    /// The process dies; the newest `writes_lost` writes of the state are lost with it.
    void crash(std::size_t writes_lost);
    /// Only while it does not run: afterwards the state differs from what the log gives, or will be rebuilt.
    void spoil_state() { x_store.spoil(); }
    void wipe_state() { x_store.wipe(); }
    bool running() const { return x_process != nullptr; }
    /// Whether its own first heartbeat is applied, so that it takes requests.
    bool serves() const;
    /// Appends the command and replies with its outcome; never replies if the process dies first. Returns the
    /// command's id.
    schemas::uuid send(const request&, reply_handler);
    /// The handler runs on the process's thread, unless the process dies first.
    void read(storage::node::registry_node::reading_handler);
    /// While set, writes fail.
    void set_disk_full(bool is_full) { x_store.set_full(is_full); }
    process_thread& thread();
    const storage::registry::state::state_store& store() const { return x_store; }
    std::uint64_t next_offset() const { return status().next_offset; }
    storage::node::registry_node::status status() const;
    /// Only while it runs.
    storage::node::registry_node& node() const;

  private:
    class process;
    world& x_world;
    settings x_settings;
    losing_store x_store;
    std::unique_ptr<process> x_process;
    process_thread* x_thread = nullptr;
    std::unique_ptr<events::log::memory::memory_log> x_log;
};

}  // namespace herald::test
