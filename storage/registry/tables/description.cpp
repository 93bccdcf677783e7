#include "storage/registry/tables/description.hpp"

namespace herald::storage::registry::tables {

void put_with_entries(state::state_changes& state, std::string key, std::string row, index_entries entries) {
    state.put(std::move(key), std::move(row));
    for (auto& [place, value] : entries.all()) state.put(std::move(place), std::move(value));
}

void erase_with_entries(state::state_changes& state, std::string key, index_entries entries) {
    state.erase(std::move(key));
    for (auto& entry : entries.all()) state.erase(std::move(entry.key));
}

void replace_entries(state::state_changes& state, index_entries old, index_entries fresh) {
    std::ranges::sort(old.all(), {}, &index_entries::entry::key);
    std::ranges::sort(fresh.all(), {}, &index_entries::entry::key);
    const auto has = [](const auto& all, const std::string& key) {
        return std::ranges::binary_search(all, key, {}, &index_entries::entry::key);
    };
    for (auto& entry : old.all())
        if (!has(fresh.all(), entry.key)) state.erase(entry.key);
    for (auto& [key, value] : fresh.all())
        if (!has(old.all(), key)) state.put(key, value);
}

}  // namespace herald::storage::registry::tables
