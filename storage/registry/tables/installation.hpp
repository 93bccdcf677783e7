// What exists once in the whole installation: its GENESIS, what operators set, and the level in
// force.
#pragma once

#include "schemas/commands/installation.hpp"
#include "schemas/restoring.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::tables {

class installation final {
  public:
    /// Empty until GENESIS is applied.
    static std::optional<schemas::commands::genesis> find(const state::state_view&);
    static bool has(const state::state_view&);
    static void put(state::state_changes&, const schemas::commands::genesis&);
};

/// What operators set; at its defaults as long as nothing is set.
class installation_settings final {
  public:
    static schemas::installation_settings find(const state::state_view&);
    static void put(state::state_changes&, const schemas::installation_settings&);
};

/// How far the log has taken over its parent's rows.
class restoring final {
  public:
    /// Empty in a log that continues no other.
    static std::optional<schemas::restoring_row> find(const state::state_view&);
    static void put(state::state_changes&, const schemas::restoring_row&);
};

/// The level that apply follows in this state (schemas/commands/level.hpp).
std::uint32_t level_in_force(const state::state_view&);
void put_level(state::state_changes&, std::uint32_t level);
/// Whether these changes write the level.
bool is_level_changed(const state::row_changes&);

}  // namespace herald::storage::registry::tables
