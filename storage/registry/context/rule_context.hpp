// What a rule of apply may see and do: the state at the command's place in the log, the time there, and
// nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "schemas/commands/envelope.hpp"
#include "schemas/commands/level.hpp"
#include "schemas/webhooks.hpp"
#include "storage/registry/state/state.hpp"
#include "storage/registry/tables/timers.hpp"

namespace herald::storage::registry::context {

using tables::timer_kind;

/// Lives for one command (or one timer). Deterministic: on the same log every node makes the same calls and
/// gets the same answers.
class rule_context {
  public:
    /// The record that is being applied.
    struct place {
        std::uint64_t offset = 0;
        std::int64_t time_ms = 0;
        schemas::uuid log_id{};
        std::uint32_t generation = 0;
        std::uint32_t event_partitions = 0;
        std::uint32_t level = schemas::commands::first_level;
        /// Counts the events of the whole record, those of its timers and of its command. Null: each context
        /// counts its own.
        std::uint32_t* events_told = nullptr;
    };

    rule_context(state::state_changes& changes, const place& where,
                 const schemas::commands::command_envelope& command)
        : state(changes), x_place(where), x_command(command) {}

    state::state_changes& state;

    std::uint64_t offset() const noexcept { return x_place.offset; }
    std::uint32_t generation() const noexcept { return x_place.generation; }
    /// The number for each event topic.
    std::uint32_t event_partitions() const noexcept { return x_place.event_partitions; }
    /// Log time: never goes back.
    std::int64_t time_ms() const noexcept { return x_place.time_ms; }
    /// Log time made unique: later than every earlier stamp, so that no two records carry the same one.
    std::int64_t stamp_ms();
    /// The level in force. What a rule, a timer, a row or an event body does differently from an earlier
    /// version, up to the text of an error, it does only from the level on that this version introduced
    /// (schemas/commands/level.hpp).
    std::uint32_t level() const noexcept { return x_place.level; }
    /// The user who sent the command. Not set for commands of nodes and for timers.
    schemas::user_id principal() const noexcept { return x_command.request.principal; }
    const schemas::commands::command_envelope& command() const noexcept { return x_command; }

    /// Next number of the counter: 1, 2, 3 …
    std::uint64_t next(std::string_view counter);
    template <schemas::numeric_id Id>
    Id next_id(std::string_view counter) {
        return Id{next(counter)};
    }

    /// The id of the next event of this record.
    schemas::event_id new_event_id();
    /// Sets a timer. It is a row, and is fired once, by the first record whose time is `due_ms` or later.
    /// `key` ≤ 64 bytes.
    void set_timer(std::int64_t due_ms, timer_kind, std::string_view key);
    void cancel_timer(std::int64_t due_ms, timer_kind, std::string_view key);

    /// Name of the key ring key with which a secret in the answer was minted; stored with the outcome.
    std::string minted_with;

  private:
    const place& x_place;
    const schemas::commands::command_envelope& x_command;
    std::uint32_t x_events = 0;  // told by this context
};

}  // namespace herald::storage::registry::context
