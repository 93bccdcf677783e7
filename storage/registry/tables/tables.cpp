#include "storage/registry/tables/tables.hpp"

namespace herald::storage::registry::tables {

using state::state_view;

void throw_corrupt(std::string_view key, std::string_view what) {
    throw state::state_corrupt{"a row of table '" + std::string(key.substr(0, 1)) + "' " + std::string(what)};
}

std::uint64_t read_number(std::string_view key, std::string_view value) {
    std::uint64_t number = 0;
    if (!schemas::take_varint(value, number) || !value.empty()) throw_corrupt(key, "does not hold a number");
    return number;
}

std::optional<std::uint64_t> find_number(const state_view& state, const std::string& key) {
    std::optional<std::uint64_t> number;
    state.read(key, [&](std::string_view value) { number = read_number(key, value); });
    return number;
}

void put_number(state::state_changes& state, std::string key, std::uint64_t value) {
    std::string bytes;
    schemas::append_varint(bytes, value);
    state.put(std::move(key), std::move(bytes));
}

}  // namespace herald::storage::registry::tables
