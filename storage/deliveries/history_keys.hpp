// The grammar of the history's keys, and when a row has had its time. Pure: RocksDB stays out of it.
//
//   number := 8 bytes big-endian; text := its bytes, then a 0 byte; id := as delivery_key(), always last
//   time   := a number; ~time := its complement, so that the newest comes first
//   facts  := event type, state, error class (a byte each), status (2 bytes): of the newest attempt
//
//   d  id                                   → time of the event, state (a byte), schemas::delivery_row
//   a  text id, time, partition, offset     → schemas::attempt without headers and bodies
//   O  workspace, facts, ~time of event, id → ""
//   P  workspace, webhook, facts, ~time of event, id → ""
//   R  workspace, resource type (a byte), text resource id, ~time of event, id → ""
//   E  text event id, id                    → time of the event
//   n  workspace, unit (a byte), unit's number (4 bytes), facts → a varint: how many deliveries
//   m  workspace, webhook, likewise
//   h  webhook                              → schemas::recent_attempts
//   l  webhook, hour (4 bytes)              → schemas::attempts_of_hour
//   y  replay, id                           → time of the attempt, a byte: what came of it (replay_outcome)
//   Y  replay                               → schemas::replay_outcomes
//   o  partition                            → a varint: the next offset to read
//   c  text topic, partition                → a varint: the next sequence of the outbox to look at
//   k  name                                 → a varint: "complete", since when nothing is missing
// The column family "bodies": time of the attempt, text id, partition, offset → schemas::attempt_bodies
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "schemas/binary.hpp"
#include "schemas/deliveries.hpp"

namespace herald::storage::deliveries {

/// A key in the making.
class history_key {
  public:
    explicit history_key(char kind) : x_bytes(1, kind) {}
    /// Of the other column family.
    history_key() = default;
    history_key& number(std::uint64_t value) {
        schemas::append_big_endian(x_bytes, value);
        return *this;
    }
    history_key& time(std::int64_t ms) { return number(static_cast<std::uint64_t>(ms)); }
    history_key& newest_first(std::int64_t ms) { return number(~static_cast<std::uint64_t>(ms)); }
    history_key& byte(std::uint8_t value) {
        x_bytes += static_cast<char>(value);
        return *this;
    }
    history_key& text(std::string_view value) {
        x_bytes += value;
        x_bytes += '\0';
        return *this;
    }
    history_key& end(std::string_view value) {
        x_bytes += value;
        return *this;
    }
    history_key& short_number(std::uint32_t value) {
        for (int shift = 24; shift >= 0; shift -= 8) byte(static_cast<std::uint8_t>(value >> shift));
        return *this;
    }
    const std::string& bytes() const noexcept { return x_bytes; }

  private:
    std::string x_bytes;
};

/// What the index entries and counters of a workspace, or of a webhook in it, begin with.
history_key of_workspace(char kind, schemas::workspace_id);
history_key of_webhook(char kind, schemas::workspace_id, schemas::webhook_id);

/// The 16 bytes of 32 hexadecimal digits; any other id as it is.
std::string delivery_key(std::string_view id);
std::string id_of_key(std::string_view key);

/// What a list asks about most, in the order in which the keys have it.
struct delivery_facts {
    schemas::event_type event_type{};
    schemas::delivery_state state{};
    schemas::delivery_error error{};
    std::uint16_t status = 0;

    friend bool operator==(const delivery_facts&, const delivery_facts&) = default;
};
inline constexpr std::size_t facts_bytes = 5;
std::string bytes_of(const delivery_facts&);
delivery_facts facts_in(std::string_view five_bytes) noexcept;
delivery_facts facts_of(const schemas::delivery_row&) noexcept;

/// The units in which deliveries are counted.
enum class count_unit : std::uint8_t { minute = 1, hour = 2 };
constexpr std::int64_t ms_of(count_unit unit) noexcept {
    return unit == count_unit::minute ? 60'000 : 3'600'000;
}
constexpr std::uint32_t unit_of(std::int64_t time_ms, count_unit unit) noexcept {
    return static_cast<std::uint32_t>(time_ms / ms_of(unit));
}

/// Whether the row is older than what the history keeps. What leads to a row, but does not show whether it
/// waits, is kept twice as long.
bool has_expired(std::string_view key, std::string_view value, std::int64_t newest_ms,
                 std::int64_t kept_ms) noexcept;

}  // namespace herald::storage::deliveries
