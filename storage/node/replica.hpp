// The state of one node: reads the command log from where the state is, applies it, writes it, shows it.
#pragma once

#include <atomic>
#include <bitset>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "events/log.hpp"
#include "runtime/clock.hpp"
#include "storage/engine.hpp"
#include "storage/newest.hpp"
#include "storage/node/node_failure.hpp"
#include "storage/tables.hpp"

namespace herald::storage {

/// Which tables a write touched.
class written_tables {
  public:
    void add(std::string_view key) { x_letters.set(static_cast<unsigned char>(key.front())); }
    bool has(table which) const { return x_letters.test(static_cast<unsigned char>(which)); }
    written_tables& operator|=(const written_tables& more) {
        x_letters |= more.x_letters;
        return *this;
    }

  private:
    std::bitset<256> x_letters;
};

/// A state, and how far it is. Immutable.
struct applied_state {
    std::shared_ptr<const state_view> view;
    engine_position position;
    std::shared_ptr<const schemas::genesis> installation;  // null before GENESIS
    /// Offset of the newest record in it; 0 before the first.
    std::uint64_t offset() const noexcept { return position.last_record_offset; }
};

/// One thread advances it, any thread looks at the newest state. Nobody sees a record's effect before it is
/// written. At start and whenever the log was out of reach the newest applied record is read again first: a
/// log that was cut or made anew is refused.
class replica {
  public:
    /// Called on the advancing thread, after the state is shown.
    struct listener {
        /// Each applied record, in order.
        std::function<void(applied_record&)> applied;
        std::function<void(const written_tables&)> written;
    };
    struct progress {
        std::size_t records = 0;   // applied
        std::int64_t rest_ms = 0;  // log or disk out of order: come back after so long
        bool at_end = false;       // the log had nothing more
    };

    using outcome_of_advance = std::variant<progress, node_failure>;

    /// All must outlive it. Throws state_corrupt.
    replica(events::log&, state_store&, const runtime::clock&, listener);

    /// Reads once, waiting at most `wait_ms` for something, applies and writes. A failure is final.
    outcome_of_advance advance(std::int64_t wait_ms);
    /// `notify` is called, on any thread, when advance() may find something. Set once, before the first.
    void on_ready(std::function<void()> notify) { x_notify = std::move(notify); }

    /// Never null; any thread.
    std::shared_ptr<const applied_state> newest() const { return x_newest.load(); }
    /// Whether what was applied cannot be written now, mostly for want of disk. Any thread.
    bool is_stuck() const noexcept { return x_is_stuck; }
    /// Rolling hash after the record `offset`, a multiple of limits::hash_exchange_offsets, as far as it is
    /// remembered. Any thread.
    std::optional<std::string> hash_at(std::uint64_t offset) const;

  private:
    /// Notes which tables are written.
    class watched_store final : public state_store {
      public:
        explicit watched_store(state_store& to) : x_to(to) {}
        result<void> write(const row_changes&) override;
        std::shared_ptr<const state_view> view() const override { return x_to.view(); }
        written_tables take() { return std::exchange(x_written, {}); }

      private:
        state_store& x_to;
        written_tables x_written;
    };

    outcome_of_advance advance_or_throw(std::int64_t wait_ms);
    std::optional<node_failure> check_last_applied(events::read_batch&);
    std::optional<node_failure> apply(std::span<const events::record>);
    /// False: the disk is full; what was applied waits in memory.
    bool write();
    void show();
    void remember_hash();

    events::log& x_log;
    watched_store x_store;
    const runtime::clock& x_clock;
    const listener x_listener;
    engine x_engine;
    std::function<void()> x_notify;

    std::unique_ptr<events::reader> x_reader;
    bool x_is_checked = false;  // the reader gave the newest applied record, and it is the same
    std::optional<std::int64_t> x_missing_since_ms;
    std::atomic<bool> x_is_stuck = false;  // the newest write failed
    std::vector<applied_record> x_unwritten;
    std::size_t x_unwritten_bytes = 0;

    storage::newest<const applied_state> x_newest;
    mutable std::mutex x_mutex;
    std::deque<std::pair<std::uint64_t, std::string>> x_hashes;
};

}  // namespace herald::storage
