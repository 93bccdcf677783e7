#include "storage/registry/tables/installation.hpp"

#include "schemas/commands/level.hpp"
#include "storage/registry/tables/tables.hpp"

namespace herald::storage::registry::tables {
namespace {

std::string genesis_key() { return key_of(table::installation); }
std::string restoring_key() { return key_of(table::installation).text("restoring"); }
std::string settings_key() { return key_of(table::installation_settings); }
std::string level_key() { return key_of(table::level); }

}  // namespace

std::optional<schemas::commands::genesis> installation::find(const state::state_view& state) {
    return find_row<schemas::commands::genesis>(state, genesis_key());
}

bool installation::has(const state::state_view& state) { return has_row(state, genesis_key()); }

void installation::put(state::state_changes& state, const schemas::commands::genesis& row) {
    put_row(state, genesis_key(), row);
}

schemas::installation_settings installation_settings::find(const state::state_view& state) {
    return find_row<schemas::installation_settings>(state, settings_key())
        .value_or(schemas::installation_settings());
}

void installation_settings::put(state::state_changes& state, const schemas::installation_settings& row) {
    put_row(state, settings_key(), row);
}

std::optional<schemas::restoring_row> restoring::find(const state::state_view& state) {
    return find_row<schemas::restoring_row>(state, restoring_key());
}

void restoring::put(state::state_changes& state, const schemas::restoring_row& row) {
    put_row(state, restoring_key(), row);
}

std::uint32_t level_in_force(const state::state_view& state) {
    return static_cast<std::uint32_t>(
        find_number(state, level_key()).value_or(schemas::commands::first_level));
}

void put_level(state::state_changes& state, std::uint32_t level) { put_number(state, level_key(), level); }

bool is_level_changed(const state::row_changes& changes) { return changes.contains(level_key()); }

}  // namespace herald::storage::registry::tables
