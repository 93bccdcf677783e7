#include "storage/registry/access/access_memory.hpp"

#include "runtime/mutex.hpp"
#include "storage/registry/access/limits.hpp"

namespace herald::storage::registry::access {
namespace {

template <class Map, class Key>
typename Map::mapped_type found_in(const Map& map, const Key& key) {
    const auto found = map.find(key);
    return found == map.end() ? typename Map::mapped_type{} : found->second;
}

template <class Map>
void keep_in(Map& map, typename Map::key_type key, typename Map::mapped_type value) {
    if (map.size() >= limits::access_memory_entries_max) map.clear();
    map.insert_or_assign(std::move(key), std::move(value));
}

}  // namespace

access_memory::user access_memory::user_of(std::string_view credential_hash) const {
    const runtime::shared_lock lock(x_mutex);
    return found_in(x_users, credential_hash);
}

void access_memory::keep(std::string_view credential_hash, user found) {
    const runtime::lock_guard lock(x_mutex);
    keep_in(x_users, std::string(credential_hash), std::move(found));
}

access_memory::workspace access_memory::workspace_of(schemas::workspace_id id) const {
    const runtime::shared_lock lock(x_mutex);
    return found_in(x_workspaces, id.value);
}

void access_memory::keep(workspace found) {
    const runtime::lock_guard lock(x_mutex);
    const std::uint64_t id = found->id.value;
    keep_in(x_workspaces, id, std::move(found));
}

std::optional<access_rights> access_memory::rights_of(schemas::user_id who,
                                                      schemas::workspace_id where) const {
    const runtime::shared_lock lock(x_mutex);
    const auto found = x_rights.find(place{who, where});
    if (found == x_rights.end()) return std::nullopt;
    return found->second;
}

void access_memory::keep(schemas::user_id who, schemas::workspace_id where, access_rights found) {
    const runtime::lock_guard lock(x_mutex);
    keep_in(x_rights, place{who, where}, found);
}

}  // namespace herald::storage::registry::access
