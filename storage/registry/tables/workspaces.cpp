#include "storage/registry/tables/workspaces.hpp"

#include "storage/registry/tables/description.hpp"

namespace herald::storage::registry::tables {
namespace {

enum class used : std::uint8_t { role = 1, group = 2 };

key_of use_key(used what, std::uint64_t id) {
    return key_of(table::workspace_use).number(static_cast<std::uint64_t>(what)).number(id);
}

std::optional<schemas::workspace_id> first_use(const state::state_view& state, const key_of& of) {
    std::optional<schemas::workspace_id> found;
    each_id_under<schemas::workspace_id>(state, of, {}, [&](schemas::workspace_id id) {
        found = id;
        return false;
    });
    return found;
}

}  // namespace

template <>
struct description<schemas::workspace> {
    static constexpr table rows = table::workspace;
    static void index(const schemas::workspace& row, index_entries& entries) {
        if (row.removed) return;
        entries.lead(key_of(table::workspace_by_name).text(row.name), row.id);
        for (const schemas::permission& each : row.permissions) {
            entries.mark(use_key(used::role, each.role_id.value).number(row.id));
            entries.mark(use_key(used::group, each.group_id.value).number(row.id));
        }
    }
};

template class keyed_table<schemas::workspace, schemas::workspace_id>;

std::optional<schemas::workspace_id> workspaces::named(const state::state_view& state,
                                                       std::string_view name) {
    return id_at<schemas::workspace_id>(state, key_of(table::workspace_by_name).text(name));
}

std::optional<schemas::workspace_id> workspaces::using_role(const state::state_view& state,
                                                            schemas::role_id role) {
    return first_use(state, use_key(used::role, role.value));
}

std::optional<schemas::workspace_id> workspaces::using_group(const state::state_view& state,
                                                             schemas::group_id group) {
    return first_use(state, use_key(used::group, group.value));
}

}  // namespace herald::storage::registry::tables
