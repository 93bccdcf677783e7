// Timers, ordered by due time: apply fires each once, at the first record with that time or a later one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "storage/registry/state/state.hpp"
#include "storage/registry/tables/keyed_table.hpp"

namespace herald::storage::registry::tables {

/// The kinds of timers; storage/registry/engine/engine.cpp calls what each does. Numbers are frozen. A node
/// that does not know a kind stops, so a new one is set only from the level on that brings it
/// (schemas/commands/level.hpp).
enum class timer_kind : std::uint8_t {
    outcome_sweep = 1,
    scan_deadline = 2,
    outbox_trim = 3,
    webhook_change_trim = 4,
    webhook_disable = 5,
    node_silence = 6,
    removal = 7,
    promotion_deadline = 8,
    artifact_sweep = 11,
    blob_drop = 12,
    multipart_expiry = 13,
    audit_sweep = 14,
    external_event_forget = 15,
    webhook_disable_soon = 16,
    webhook_expiry = 17,
    webhook_secret_end = 18,
    membership_sweep = 20,
    workspace_sweep = 22,
    session_end = 23,
    access_token_end = 30,
    endpoint_stage_sweep = 31,
    endpoint_update_step = 32,
    build_deadline = 33,
    deployed_build_sweep = 34,
    replay_forget = 40,
};

struct timer {
    std::int64_t due_ms = 0;
    timer_kind kind{};
    std::string key;  // names what the timer is about; at most 64 bytes

    bool operator==(const timer&) const = default;
};

class timers final {
  public:
    static void set(state::state_changes&, const timer&);
    static void erase(state::state_changes&, const timer&);
    /// In order of due time.
    static void each(const state::state_view&, const visitor<timer>&);
    /// Empty when none is set.
    static std::optional<std::int64_t> first_due_ms(const state::state_view&);
    /// The first of the timers that these changes set.
    static std::optional<std::int64_t> first_due_ms(const state::row_changes&);
};

}  // namespace herald::storage::registry::tables
