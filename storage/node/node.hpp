// An API node's registry: appends commands and waits for what became of them, applies the log to its own
// state, answers reads, speaks in the log as a member, and runs the jobs that it holds (design.md §1).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "events/log/log.hpp"
#include "runtime/random.hpp"
#include "runtime/readiness.hpp"
#include "runtime/scheduler.hpp"
#include "schemas/commands/all.hpp"
#include "storage/node/limits.hpp"
#include "storage/node/node_failure.hpp"
#include "storage/registry/engine/engine.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::node {

class disk_guard;

enum class node_kind : std::uint8_t {
    /// Alone with its log: reads need no barrier; heartbeats only when a timer is due or after a minute.
    standalone,
    /// One of several at one log.
    cluster,
};

enum class read_mode : std::uint8_t {
    linearizable,  // asks the log's leader how far to apply first
    local,         // what this node has applied
    log,           // appends to the log and waits for that
};

/// Something that one node of the cluster does at a time (design.md §1 "Jobs are claims"). Called on the
/// scheduler's thread.
class claimed_job {
  public:
    virtual ~claimed_job() = default;
    /// The claim with this token is this node's; called again when the token changes.
    virtual void start(std::uint64_t token) = 0;
    virtual void stop() = 0;
};

/// Owned by the composition, which lets it go on the scheduler's thread or when that runs no more; its own
/// thread ends with it. Handlers may be called on any thread, and from within the call; they must not block.
class registry_node {
  public:
    struct options {
        std::string name;  // unique in the cluster, the same at every start
        node_kind kind = node_kind::standalone;
        read_mode reads = read_mode::linearizable;  // standalone always reads locally
        /// Applies on a thread of its own; else on the scheduler, as tests and simulations want it.
        bool has_thread = true;
        /// Told to the other nodes: how long this one may serve predictions while the log is out of reach.
        std::int64_t isolation_grace_ms = limits::isolation_grace_ms_default;
        disk_guard* disk = nullptr;  // refuses writes while the disk is full; must outlive the node
        /// Called once, on any thread; the node serves nothing more after that.
        std::function<void(const node_failure&)> on_failure;
    };
    /// What a node stands on; all of it must outlive the node.
    struct parts {
        events::log::partitioned_log& log;
        registry::state::state_store& store;
        runtime::scheduler& scheduler;
        runtime::random_source& random;  // thread-safe
    };

    /// A state to read from.
    struct reading {
        std::shared_ptr<const registry::state::state_view> view;
        std::uint64_t offset = 0;  // of the newest record in it
        std::uint32_t generation = 0;
        bool stale = false;  // the log was out of reach: newer writes may be missing
    };
    struct status {
        std::optional<runtime::trouble> not_ready;       // traffic is better sent elsewhere
        std::optional<runtime::trouble> writes_refused;  // that, or little disk is left
        std::uint64_t next_offset = 0;
        std::int64_t time_ms = 0;  // log time
        std::string hash;
        std::size_t commands_in_flight = 0;
        std::uint64_t lag_records = 0;  // in the log and not applied here
        std::uint64_t log_bytes = 0;    // of the commands applied
        std::int64_t replay_ms = 0;     // what applying all of them again would take, about
        std::size_t nodes_that_differ = 0;
        std::uint64_t outbox_rows = 0;      // events not published
        std::int64_t outbox_oldest_ms = 0;  // age of the oldest of them
    };

    using outcome_handler = std::function<void(result<schemas::commands::outcome>)>;
    using reading_handler = std::function<void(result<reading>)>;

    virtual ~registry_node() = default;

    /// Appends the command and calls back once it is applied here: with its outcome (refusals are outcomes
    /// too), or with an error where none is known:
    ///   unavailable       not ready, draining, disk full, too many in flight, or the command is above the
    ///                     level in force (older nodes would not know it): it took no effect. With an
    ///                     Idempotency-Key also when that is unknown after limits::outcome_wait_ms_max
    ///   invalid_argument  larger than limits::command_bytes_max
    ///   internal          without a key: the outcome is unknown after limits::outcome_wait_ms_max
    /// `command_id`: random, chosen by the caller where something else derives from it (a minted secret).
    /// The type is one of schemas::commands::all_commands.
    virtual void submit(schemas::commands::command_type, std::string body,
                        schemas::commands::request_identity, schemas::uuid command_id, outcome_handler) = 0;

    /// What this node has applied, whatever the cluster has; nothing when the node is not ready. Cheap.
    virtual std::optional<reading> read_applied() const = 0;
    /// The newest state where that needs no question to the log (standalone, local reads); nothing when it
    /// does or the node is not ready. Cheap: any thread, any rate.
    virtual std::optional<reading> read_now() const = 0;
    /// A state that holds every write answered before this call; after limits::barrier_wait_ms_max without
    /// the log, the local one marked stale. Errors: unavailable when the node does not serve.
    virtual void read(reading_handler) = 0;

    /// Reads are answered; a node that is not ready in the sense of state_now() may still do that.
    virtual bool ready() const noexcept = 0;
    /// Any thread; cheap enough for every question of an operator.
    virtual status state_now() const = 0;

    /// Runs the job while this node holds its claim. Before start().
    virtual void add_job(schemas::job, std::shared_ptr<claimed_job>) = 0;
    /// Begins to apply, then to speak. Once.
    virtual void start() = 0;
    /// Stops the jobs, frees their claims and takes no more commands; `done` is called on the scheduler's
    /// thread when none is in flight. After limits::drain_commands_ms_max those that are learn that their
    /// outcome is unknown.
    virtual void drain(std::function<void()> done) = 0;
};

/// The job of the publisher is the node's own.
std::shared_ptr<registry_node> make_node(registry_node::options, registry_node::parts);

}  // namespace herald::storage::node
