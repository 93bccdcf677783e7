// The registry's engine: apply(state, record) → mutations, outcome, events (design.md §1).
//
// Pure and deterministic: no clock, randomness, locale or disk. All nodes that apply the same records to the
// same state get the same rows, outcomes and hash, bit for bit (P5).
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "events/log/log.hpp"
#include "runtime/crypto.hpp"
#include "schemas/commands/envelope.hpp"
#include "schemas/commands/installation.hpp"
#include "storage/registry/context/rule_context.hpp"
#include "storage/registry/state/state.hpp"
#include "storage/registry/tables/position.hpp"

namespace herald::storage::registry::engine {

using tables::engine_position;

/// A record's hash and the command in it; all that is found out without the state.
struct opened_record {
    const events::log::record* record = nullptr;
    runtime::sha256_digest hash{};                        // of the value
    result<schemas::commands::command_envelope> command;  // invalid_argument: these bytes are not a command
};
/// Any thread. The record must outlive what is returned.
opened_record open_record(const events::log::record&);

/// A record that operators have decided to pass over, on every node (--skip): the last resort when a command
/// that no program at hand knows stops the applier. Only such a record is passed over, and only if its bytes
/// have this SHA-256; that it was goes into the rolling hash.
struct skipped_record {
    std::uint64_t offset = 0;
    std::string hash;
};

/// What became of one record.
struct applied_record {
    std::uint64_t offset = 0;
    /// Id of the command; empty for bytes that are not a command of this log (they are refused, without any
    /// effect).
    std::optional<schemas::uuid> command_id;
    schemas::commands::command_type type{};
    schemas::commands::outcome outcome;
    /// Encoded schemas::commands::node_heartbeat when it was one that counts; else empty.
    std::string heartbeat;
};

/// Applies records one after another. One thread. Changes collect in memory until write() stores them, with
/// the position, in one batch: after a crash both are at the older place together, and the log is read again
/// from there.
class engine {
  public:
    /// Continues from the position of `store`, which must outlive the engine.
    explicit engine(state::state_store& store, std::vector<skipped_record> skips = {});

    /// Applies the record at position().next_offset or beyond (a log may have holes). Errors are final for
    /// this program: failed_precondition when the first record is not GENESIS, when the type of a record is
    /// unknown though its level is in force, when the log's level is above this program's, or when the record
    /// lies before the position. The state is then as it was before the record.
    result<applied_record> apply(const opened_record&);
    result<applied_record> apply(const events::log::record& record) { return apply(open_record(record)); }

    /// Writes everything applied since the last write. On unavailable not everything was written; call again.
    result<void> write();
    /// Begins to write everything applied since the last write, on another thread; meanwhile more can be
    /// applied. Only for a store that is_written_beside(), and only while nothing is_writing().
    void begin_write();
    /// Waits for what begin_write() began. On unavailable it was not written; call again.
    result<void> finish_write();
    bool is_writing() const noexcept { return x_writing != nullptr; }

    const engine_position& position() const noexcept { return x_position; }
    /// The log's identity; empty until GENESIS is applied.
    const std::optional<schemas::commands::genesis>& installation() const noexcept { return x_installation; }
    /// The level in force for the next record.
    std::uint32_t level() const noexcept { return x_level; }
    /// failed_precondition when the log's level is above this program's.
    result<void> check_level() const;
    /// How much of what was applied no write has begun with yet: rows, and bytes of changes, a row that
    /// changed twice counted twice.
    std::size_t unwritten_rows() const noexcept { return x_batch->changes().size(); }
    std::size_t unwritten_bytes() const noexcept { return x_unwritten_bytes; }

  private:
    void start_batch();
    void look_at_restoring();
    void fire_due_timers(state::state_changes& changes, std::uint64_t offset);
    schemas::commands::outcome run(state::state_changes& changes,
                                   const schemas::commands::command_envelope& command, std::uint64_t offset);
    static schemas::commands::outcome decide(state::state_changes& changes,
                                             const context::rule_context::place& here,
                                             const schemas::commands::command_envelope& command);
    bool is_skipped(const opened_record& opened) const;
    enum class effect : std::uint8_t { applied, skipped };
    void finish(const opened_record& opened, state::row_changes mutations, effect what);

    state::state_store& x_store;
    const std::vector<skipped_record> x_skips;
    std::shared_ptr<const state::state_view> x_base;
    /// What begin_write() writes; x_batch lies over it.
    std::unique_ptr<state::state_changes> x_writing;
    std::unique_ptr<state::state_changes> x_batch;
    engine_position x_position;
    std::optional<schemas::commands::genesis> x_installation;
    std::uint32_t x_level = schemas::commands::first_level;  // the level in force
    std::uint32_t x_events_told = 0;                         // at the record that is being applied
    std::size_t x_unwritten_bytes = 0;                       // of the changes in x_batch
    bool x_is_restoring = false;                             // the parent's rows are not all there yet
    std::int64_t x_next_timer_ms = 0;     // no timer is due before this; 0: not looked up yet
    std::future<result<void>> x_written;  // its end waits for the write
};

/// Log time of a record: max(previous, min(the log's record time, sender's clock + 60 s)), and never beyond
/// limits::log_time_ms_max.
std::int64_t log_time_ms(std::int64_t previous_ms, std::int64_t record_ms, std::int64_t sender_ms) noexcept;

}  // namespace herald::storage::registry::engine
