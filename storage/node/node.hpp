// An API node's registry: appends commands and waits for their outcomes, applies the log to its own state,
// answers reads, sends heartbeats as a member of the cluster, and runs the jobs whose claims it holds
// (design.md §1).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "events/log/log.hpp"
#include "runtime/random.hpp"
#include "runtime/readiness.hpp"
#include "runtime/scheduler.hpp"
#include "schemas/commands/envelope.hpp"
#include "schemas/nodes.hpp"
#include "storage/node/freshness.hpp"
#include "storage/node/limits.hpp"
#include "storage/node/node_failure.hpp"
#include "storage/registry/engine/engine.hpp"
#include "storage/registry/state/state.hpp"
#include "storage/registry/tables/serving_changes.hpp"

namespace herald::storage::node {

class disk_guard;

enum class node_kind : std::uint8_t {
    /// Alone with its log: reads need no barrier; heartbeats only when a timer is due, or after a minute.
    standalone,
    /// One of several on the same log.
    cluster,
};

enum class read_mode : std::uint8_t {
    linearizable,  // first asks the log's leader how far to apply
    local,         // what this node has applied
    log,           // appends to the log and waits until that is applied
};

/// A job that only one node of the cluster does at a time (design.md §1 "Jobs are claims"). Called on the
/// scheduler's thread.
class claimed_job {
  public:
    virtual ~claimed_job() = default;
    /// This node now holds the claim with this token; called again when the token changes.
    virtual void start(std::uint64_t token) = 0;
    virtual void stop() = 0;
    /// While it cannot do the job, the node lets the claim go, for another one to take, and asks for it no
    /// more.
    virtual bool is_able() const { return true; }
};

/// The changes that one write is about to make visible.
struct shown_write {
    const std::shared_ptr<const registry::state::state_view>& view;
    const registry::tables::serving_changes& changes;
    std::uint64_t offset = 0;   // of the newest record in the view
    std::uint32_t level = 0;    // in force
    bool is_caught_up = false;  // the log had been applied to its end before
};

/// Owned by the composition, which releases it on the scheduler's thread or after that has stopped; its own
/// thread ends with it. Handlers may be called on any thread, also from within the call itself; they must not
/// block.
class registry_node {
  public:
    struct options {
        std::string name;  // unique in the cluster, and the same at every start
        node_kind kind = node_kind::standalone;
        read_mode reads = read_mode::linearizable;  // standalone always reads locally
        /// Applies on a thread of its own; otherwise on the scheduler, for tests and simulations.
        bool has_thread = true;
        /// Told to the other nodes: how long this node may serve predictions while the log is out of reach.
        std::int64_t isolation_grace_ms = limits::isolation_grace_ms_default;
        /// Told to the other nodes: whether an update waits for this node, and what it has for models.
        bool serves_predictions = false;
        std::vector<std::string> runtimes;
        /// Unknown commands to pass over.
        std::vector<registry::engine::skipped_record> skips;
        disk_guard* disk = nullptr;  // refuses writes while the disk is full; must outlive the node
        /// Called on the applying thread before the write can be read, and before the senders of its commands
        /// get their outcomes, so that a request after an answer already sees the change. May be empty.
        std::function<void(const shown_write&)> about_to_show;
        /// Calls back, on any thread, once every event loop that serves predictions has ended its step, and
        /// so sees what about_to_show got before. Only then the node says what it has applied. May be empty.
        std::function<void(std::function<void()>)> quiesce;
        /// Called once, on any thread; after that the node serves nothing more.
        std::function<void(const node_failure&)> on_failure;
    };
    /// The parts that a node uses; they must outlive it.
    struct parts {
        events::log::partitioned_log& log;
        registry::state::state_store& store;
        runtime::scheduler& scheduler;
        runtime::random_source& random;  // thread-safe
    };

    /// A state to read from.
    struct reading {
        std::shared_ptr<const registry::state::state_view> view;
        std::uint64_t offset = 0;  // of the newest applied record
        std::uint32_t generation = 0;
        bool stale = false;  // the log was out of reach: newer writes may be missing
    };
    struct status {
        std::optional<runtime::trouble> not_ready;       // traffic should go elsewhere
        std::optional<runtime::trouble> reads_refused;   // as for predictions: see serves_until_ms()
        std::optional<runtime::trouble> writes_refused;  // the same reason, or low disk space
        std::uint64_t next_offset = 0;
        std::int64_t time_ms = 0;  // log time
        std::string hash;
        std::size_t commands_in_flight = 0;
        std::uint64_t lag_records = 0;  // in the log but not applied here
        std::uint64_t log_bytes = 0;    // of all applied commands
        std::int64_t replay_ms = 0;     // estimated time to apply all of them again
        std::size_t nodes_that_differ = 0;
        std::uint64_t outbox_rows = 0;      // events not published yet
        std::int64_t outbox_oldest_ms = 0;  // age of the oldest of them
    };

    using outcome_handler = std::function<void(result<schemas::commands::outcome>)>;
    using reading_handler = std::function<void(result<reading>)>;

    virtual ~registry_node() = default;

    /// Appends the command and calls back once it is applied here, with its outcome (refusals are outcomes
    /// too), or with an error when the outcome is not known:
    ///   unavailable       not ready, draining, disk full, too many in flight, or the command is above the
    ///                     level in force (older nodes would not know it): it had no effect. With an
    ///                     Idempotency-Key also when its effect is unknown after limits::outcome_wait_ms_max
    ///   invalid_argument  larger than limits::command_bytes_max
    ///   internal          without a key: the outcome is unknown after limits::outcome_wait_ms_max
    /// `command_id`: random, chosen by the caller where something else derives from it (a minted secret).
    /// The type is one of schemas::commands::all_commands.
    virtual void submit(schemas::commands::command_type, std::string body,
                        schemas::commands::request_identity, schemas::uuid command_id, outcome_handler) = 0;

    /// The state, if it is at hand; empty when the node is not ready, or when only the log can say what is
    /// newest (in a cluster, unless it reads locally). Cheap: any thread, any rate.
    virtual std::optional<reading> read_now(freshness) const = 0;
    /// The newest state. If the log does not answer within limits::barrier_wait_ms_max: the applied state,
    /// marked stale. Errors: unavailable when the node does not serve.
    virtual void read(reading_handler) = 0;

    /// Calls back once, on any thread, when a state with a new heartbeat of any node is visible, or when this
    /// node has failed; never, if this node ends before. Any thread.
    virtual void after_next_heartbeat(std::function<void()>) = 0;

    /// Whether reads are answered; that can be so even while state_now() says not ready.
    virtual bool ready() const noexcept = 0;
    /// Any thread; cheap enough for every operator request.
    virtual status state_now() const = 0;

    /// As in its heartbeats.
    struct identity {
        std::string name;
        schemas::uuid boot{};
    };
    virtual identity me() const = 0;
    /// Until when, by the steady clock, this node may serve predictions without hearing of the log: when it
    /// sent the newest heartbeat that it has itself applied, and options::isolation_grace_ms more. Standalone
    /// there is no end. Any thread; cheap.
    virtual std::int64_t serves_until_ms() const noexcept = 0;
    /// Runs the job while this node holds its claim. To be called before start().
    virtual void add_job(schemas::job, std::shared_ptr<claimed_job>) = 0;
    /// Begins to apply, then to send heartbeats. Called once.
    virtual void start() = 0;
    /// Stops the jobs, frees their claims and accepts no more commands; `done` is called on the scheduler's
    /// thread when none is in flight. Commands still in flight after limits::drain_commands_ms_max are
    /// answered as unknown.
    virtual void drain(std::function<void()> done) = 0;
};

/// The error for a command whose outcome is unknown: unavailable if it has an Idempotency-Key and can be sent
/// again, otherwise internal.
error outcome_unknown(bool has_key);

/// The node itself adds the publisher's job.
std::shared_ptr<registry_node> make_node(registry_node::options, registry_node::parts);

}  // namespace herald::storage::node
