// The state of one node: reads the command log from where the state ends, applies it, writes the state and
// shows it.
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
#include "storage/registry/tables/serving_changes.hpp"
#include "storage/registry/tables/written_tables.hpp"

namespace herald::storage::node {

using registry::tables::written_tables;

/// A state and its position in the log. Immutable.
struct applied_state {
    std::shared_ptr<const registry::state::state_view> view;
    registry::engine::engine_position position;
    std::uint32_t level = schemas::commands::first_level;            // the level in force
    std::shared_ptr<const schemas::commands::genesis> installation;  // null before GENESIS
    /// Offset of the newest record applied; 0 before the first.
    std::uint64_t offset() const noexcept { return position.last_record_offset; }
};

/// One thread advances it; any thread may look at the newest state. A record's effect is visible only after
/// it was written. At start, whenever the log was out of reach, and on request, the newest applied record is
/// read again first; if another node has applied something different, all remembered records are. A log that
/// was cut or created anew is refused.
class replica {
  public:
    /// Called on the advancing thread, once the state is visible unless it says otherwise.
    struct listener {
        /// Each applied record, in order.
        std::function<void(registry::engine::applied_record&)> applied;
        std::function<void(const written_tables&)> written;
        /// The other nodes wait to hear this node's hash: some node spoke for the first time, or differed and
        /// the log was read again.
        std::function<void()> asked;
        /// First of all, before anybody can read the state: what was written of where predictions go. May be
        /// missing.
        std::function<void(const applied_state&, const registry::tables::serving_changes&)> about_to_show;
    };
    struct progress {
        std::size_t records = 0;   // applied or compared
        std::int64_t rest_ms = 0;  // log or disk has trouble: call again after this time
        bool at_end = false;       // the log had nothing more
    };

    using outcome_of_advance = std::variant<progress, node_failure>;

    /// All arguments must outlive it; `name` is the node's. Throws state_unreadable.
    replica(events::log::partitioned_log&, registry::state::state_store&, const runtime::clock&,
            std::string name, listener, std::vector<registry::engine::skipped_record> skips = {});

    /// Reads once, waiting at most `wait_ms`, then applies and writes. A failure is final.
    outcome_of_advance advance(std::int64_t wait_ms);
    /// `notify` is called, on any thread, when advance() may find something. Set once, before the first
    /// advance().
    void on_ready(std::function<void()> notify) { x_notify = std::move(notify); }

    /// Never null; any thread.
    std::shared_ptr<const applied_state> newest() const { return x_newest.load(); }
    /// Whether applied changes cannot be written now, usually because the disk is full. Any thread.
    bool is_stuck() const noexcept { return x_is_stuck; }
    /// Why the latest write failed, for callers of the API; empty when none has. Any thread.
    std::string stuck_because() const;
    /// Makes the newest applied record be read again before more is applied. Any thread.
    void compare_with_log();
    /// What the other nodes have. Any thread.
    const peer_hashes& peers() const noexcept { return x_peers; }

  private:
    /// Notes which tables are written.
    class watched_store final : public registry::state::state_store {
      public:
        explicit watched_store(registry::state::state_store& to) : x_to(to) {}
        result<void> write(const registry::state::row_changes&) override;
        std::shared_ptr<const registry::state::state_view> view() const override { return x_to.view(); }
        bool is_written_beside() const noexcept override { return x_to.is_written_beside(); }
        written_tables take() { return std::exchange(x_written, {}); }
        registry::tables::serving_changes take_serving() { return std::exchange(x_serving, {}); }

      private:
        registry::state::state_store& x_to;
        written_tables x_written;
        registry::tables::serving_changes x_serving;
    };

    /// Records whose effect is written together.
    struct applied_batch {
        std::vector<registry::engine::applied_record> records;
        std::size_t bytes = 0;
        registry::engine::engine_position position;  // after them, as the level
        std::uint32_t level = schemas::commands::first_level;
    };

    outcome_of_advance advance_or_throw(std::int64_t wait_ms);
    void open_reader();
    /// Removes the records that were applied before from the front of `records` and compares them.
    std::optional<node_failure> compare(std::span<const events::log::record>& records, bool at_end);
    node_failure not_in_log(const std::string& what) const;
    std::optional<node_failure> apply(std::span<const events::log::record>, bool at_end);
    /// What is applied is as much as one write may be.
    bool is_batch_full() const;
    void hear(const registry::engine::applied_record&);
    /// False: the disk is full; the applied changes wait in memory.
    bool write();
    /// The same, but leaves the last batch to another thread while there is more to apply. Only until the
    /// log's end was reached once: after that, senders wait for their answers.
    void write_beside();
    bool finish_write();
    bool is_written(const result<void>& outcome);
    /// The applied records become those that are being written; once they are written, all waiters get their
    /// outcomes.
    void take_applied();
    void tell();
    std::shared_ptr<const applied_state> next_state(const registry::engine::engine_position&,
                                                    std::uint32_t level) const;

    events::log::partitioned_log& x_log;
    watched_store x_store;
    const runtime::clock& x_clock;
    const listener x_listener;
    registry::engine::engine x_engine;
    std::function<void()> x_notify;

    std::unique_ptr<events::log::reader> x_reader;
    /// The applied record that the reader must return next; empty once all records to compare were seen.
    std::optional<std::uint64_t> x_compare_next;
    bool x_compares_all = false;  // all remembered records, not only the newest
    std::optional<std::int64_t> x_missing_since_ms;
    bool x_was_at_end = false;
    std::atomic<bool> x_must_compare = false;
    std::atomic<bool> x_is_stuck = false;  // the latest write failed
    runtime::newest<const std::string> x_stuck_because;
    applied_batch x_unwritten;
    applied_batch x_in_flight;  // being written

    bool x_is_asked = false;
    record_ring x_ring;
    peer_hashes x_peers;
    runtime::newest<const applied_state> x_newest;
};

}  // namespace herald::storage::node
