#include "storage/registry/tables/counters.hpp"

#include "storage/registry/tables/tables.hpp"

namespace herald::storage::registry::tables {

std::uint64_t counters::value(const state::state_view& state, std::string_view name) {
    return find_number(state, key_of(table::counter).text(name)).value_or(0);
}

void counters::put(state::state_changes& state, std::string_view name, std::uint64_t value) {
    put_number(state, key_of(table::counter).text(name), value);
}

}  // namespace herald::storage::registry::tables
