#include "storage/registry/tables/endpoints.hpp"

#include <algorithm>

#include "runtime/crypto.hpp"
#include "storage/registry/tables/description.hpp"

namespace herald::storage::registry::tables {
namespace {

std::string bytes_of(const schemas::uuid& id) { return std::string(runtime::as_bytes(id)); }

schemas::uuid uuid_in(std::string_view bytes) {
    schemas::uuid id{};
    if (bytes.size() < id.size()) throw state::state_corrupt{"an index entry without a UUID"};
    std::copy_n(bytes.end() - static_cast<std::ptrdiff_t>(id.size()), id.size(), id.begin());
    return id;
}

std::optional<schemas::uuid> uuid_at(const state::state_view& state, const std::string& key) {
    std::optional<schemas::uuid> found;
    state.read(key, [&](std::string_view value) { found = uuid_in(value); });
    return found;
}

std::string path_key(std::string_view path) { return key_of(table::endpoint_by_path).text(path); }
std::string v2_name_key(std::string_view name) { return key_of(table::endpoint_by_v2_name).text(name); }

}  // namespace

std::string v2_name_of(std::string_view path) {
    if (path.starts_with('/')) path.remove_prefix(1);
    std::string name(path);
    std::replace(name.begin(), name.end(), '/', '.');
    return name;
}

template <>
struct description<schemas::endpoint> {
    static constexpr table rows = table::endpoint;
    static auto indexed(const schemas::endpoint& row) { return std::tie(row.path, row.workspace_id); }
    static void index(const schemas::endpoint& row, index_entries& entries) {
        entries.lead(path_key(row.path), row.id);
        entries.lead(v2_name_key(v2_name_of(row.path)), row.id);
        entries.mark(key_of(table::endpoint_of_workspace).number(row.workspace_id).text(bytes_of(row.id)));
    }
};

template <>
struct description<schemas::endpoint_stage> {
    static constexpr table rows = table::endpoint_stage;
    static auto indexed(const schemas::endpoint_stage& row) { return std::tie(row.endpoint_id); }
    static void index(const schemas::endpoint_stage& row, index_entries& entries) {
        // All UUIDs have one length, so a number may follow.
        entries.mark(key_of(table::stage_of_endpoint).text(bytes_of(row.endpoint_id)).number(row.id));
    }
};

template class keyed_table<schemas::endpoint, schemas::uuid>;
template class keyed_table<schemas::endpoint_stage, schemas::endpoint_stage_id>;

std::optional<schemas::uuid> endpoints::at_path(const state::state_view& state, std::string_view path) {
    return uuid_at(state, path_key(path));
}

std::optional<schemas::uuid> endpoints::with_v2_name(const state::state_view& state, std::string_view name) {
    return uuid_at(state, v2_name_key(name));
}

void endpoints::each_of(const state::state_view& state, schemas::workspace_id workspace,
                        const std::optional<schemas::uuid>& from, const visitor<schemas::uuid>& visit) {
    const std::string prefix = key_of(table::endpoint_of_workspace).number(workspace);
    const std::string start = from ? prefix + bytes_of(*from) : std::string();
    state.scan(prefix, start, [&](std::string_view key, std::string_view) { return visit(uuid_in(key)); });
}

void endpoint_stages::each_of(const state::state_view& state, const schemas::uuid& endpoint,
                              schemas::endpoint_stage_id from,
                              const visitor<schemas::endpoint_stage_id>& visit) {
    each_id_under(state, key_of(table::stage_of_endpoint).text(bytes_of(endpoint)), from, visit);
}

}  // namespace herald::storage::registry::tables
