#include "storage/registry/tables/position.hpp"

#include "storage/registry/tables/tables.hpp"

namespace herald::storage::registry::tables {

std::optional<engine_position> positions::find(const state::state_view& state) {
    return find_row<engine_position>(state, key_of(table::position));
}

void positions::put(state::state_changes& state, const engine_position& row) {
    put_row(state, key_of(table::position), row);
}

}  // namespace herald::storage::registry::tables
