// The state of one node: reads the command log from where the state is, applies it, writes it, shows it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "events/log/log.hpp"
#include "runtime/clock.hpp"
#include "runtime/newest.hpp"
#include "storage/node/node_failure.hpp"
#include "storage/node/peer_hashes.hpp"
#include "storage/node/record_ring.hpp"
#include "storage/registry/engine/engine.hpp"
#include "storage/registry/tables/written_tables.hpp"

namespace herald::storage::node {

using registry::tables::written_tables;

/// A state, and how far it is. Immutable.
struct applied_state {
    std::shared_ptr<const registry::state::state_view> view;
    registry::engine::engine_position position;
    std::uint32_t level = schemas::commands::first_level;            // in force
    std::shared_ptr<const schemas::commands::genesis> installation;  // null before GENESIS
    /// Offset of the newest record in it; 0 before the first.
    std::uint64_t offset() const noexcept { return position.last_record_offset; }
};

/// One thread advances it, any thread looks at the newest state. Nobody sees a record's effect before it is
/// written. At start, whenever the log was out of reach and when told to, the newest applied record is read
/// again first; all that are remembered are when another node has applied something else. A log that was cut
/// or made anew is refused.
class replica {
  public:
    /// Called on the advancing thread, after the state is shown.
    struct listener {
        /// Each applied record, in order.
        std::function<void(registry::engine::applied_record&)> applied;
        std::function<void(const written_tables&)> written;
        /// The other nodes wait to hear what this one has: one spoke for the first time, or differed and the
        /// log was read again.
        std::function<void()> asked;
    };
    struct progress {
        std::size_t records = 0;   // applied or compared
        std::int64_t rest_ms = 0;  // log or disk out of order: come back after so long
        bool at_end = false;       // the log had nothing more
    };

    using outcome_of_advance = std::variant<progress, node_failure>;

    /// All must outlive it; `name` is the node's. Throws state_unreadable.
    replica(events::log::partitioned_log&, registry::state::state_store&, const runtime::clock&,
            std::string name, listener);

    /// Reads once, waiting at most `wait_ms` for something, applies and writes. A failure is final.
    outcome_of_advance advance(std::int64_t wait_ms);
    /// `notify` is called, on any thread, when advance() may find something. Set once, before the first.
    void on_ready(std::function<void()> notify) { x_notify = std::move(notify); }

    /// Never null; any thread.
    std::shared_ptr<const applied_state> newest() const { return x_newest.load(); }
    /// Whether what was applied cannot be written now, mostly for want of disk. Any thread.
    bool is_stuck() const noexcept { return x_is_stuck; }
    /// Reads the newest applied record again before more is applied. Any thread.
    void compare_with_log();
    /// What other nodes have. Any thread.
    const peer_hashes& peers() const noexcept { return x_peers; }

  private:
    /// Notes which tables are written.
    class watched_store final : public registry::state::state_store {
      public:
        explicit watched_store(registry::state::state_store& to) : x_to(to) {}
        result<void> write(const registry::state::row_changes&) override;
        std::shared_ptr<const registry::state::state_view> view() const override { return x_to.view(); }
        written_tables take() { return std::exchange(x_written, {}); }

      private:
        registry::state::state_store& x_to;
        written_tables x_written;
    };

    outcome_of_advance advance_or_throw(std::int64_t wait_ms);
    void open_reader();
    /// Takes those that were applied before from the front of `records` and compares them.
    std::optional<node_failure> compare(std::span<const events::log::record>& records, bool at_end);
    node_failure not_in_log(const std::string& what) const;
    std::optional<node_failure> apply(std::span<const events::log::record>);
    void hear(const registry::engine::applied_record&);
    /// False: the disk is full; what was applied waits in memory.
    bool write();
    void show();

    events::log::partitioned_log& x_log;
    watched_store x_store;
    const runtime::clock& x_clock;
    const listener x_listener;
    registry::engine::engine x_engine;
    std::function<void()> x_notify;

    std::unique_ptr<events::log::reader> x_reader;
    /// Of the applied record that the reader must give next; nothing once all that were to be compared are.
    std::optional<std::uint64_t> x_compare_next;
    bool x_compares_all = false;  // all that are remembered, not only the newest
    std::optional<std::int64_t> x_missing_since_ms;
    bool x_was_at_end = false;
    std::atomic<bool> x_must_compare = false;
    std::atomic<bool> x_is_stuck = false;  // the newest write failed
    std::vector<registry::engine::applied_record> x_unwritten;
    std::size_t x_unwritten_bytes = 0;

    bool x_is_asked = false;
    record_ring x_ring;
    peer_hashes x_peers;
    runtime::newest<const applied_state> x_newest;
};

}  // namespace herald::storage::node
