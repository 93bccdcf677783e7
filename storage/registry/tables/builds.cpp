#include "storage/registry/tables/builds.hpp"

#include "storage/registry/tables/description.hpp"

namespace herald::storage::registry::tables {

template <>
struct description<schemas::build> {
    static constexpr table rows = table::build;
    static schemas::build_id key(const schemas::build& row) { return row.id; }
    static void index(const schemas::build& row, index_entries& entries) {
        entries.mark(key_of(table::build_of_version)
                         .number(row.model_version_id)
                         .number(row.workspace_id)
                         .number(row.id));
    }
};

template class keyed_table<schemas::build, schemas::build_id>;

void builds::each_of(const state::state_view& state, schemas::version_id version,
                     schemas::workspace_id workspace, schemas::build_id from,
                     const visitor<schemas::build_id>& visit) {
    each_id_under(state, key_of(table::build_of_version).number(version).number(workspace), from, visit);
}

std::optional<schemas::workspace_id> builds::next_workspace(const state::state_view& state,
                                                            schemas::version_id version,
                                                            schemas::workspace_id from) {
    const key_of of_version = key_of(table::build_of_version).number(version);
    const std::string prefix = of_version;
    const std::string start = from ? std::string(key_of(of_version).number(from)) : std::string();
    std::optional<schemas::workspace_id> next;
    state.scan(prefix, start, [&](std::string_view key, std::string_view) {
        next.emplace(number_in_key(key, 8));
        return false;
    });
    return next;
}

}  // namespace herald::storage::registry::tables
