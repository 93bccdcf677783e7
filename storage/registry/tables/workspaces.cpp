#include "storage/registry/tables/workspaces.hpp"

#include "storage/registry/tables/description.hpp"

namespace herald::storage::registry::tables {

template <>
struct description<schemas::workspace> {
    static constexpr table rows = table::workspace;
    static schemas::workspace_id key(const schemas::workspace& row) { return row.id; }
    static void index(const schemas::workspace& row, index_entries& entries) {
        entries.lead(key_of(table::workspace_by_name).text(row.name), row.id);
    }
};

template class keyed_table<schemas::workspace, schemas::workspace_id>;

std::optional<schemas::workspace_id> workspaces::named(const state::state_view& state,
                                                       std::string_view name) {
    return id_at<schemas::workspace_id>(state, key_of(table::workspace_by_name).text(name));
}

}  // namespace herald::storage::registry::tables
