#include "storage/registry/tables/builds.hpp"

#include "storage/registry/tables/description.hpp"

namespace herald::storage::registry::tables {

template <>
struct description<schemas::build> {
    static constexpr table rows = table::build;
    static void index(const schemas::build& row, index_entries& entries) {
        entries.mark(key_of(table::build_of_version)
                         .number(row.model_version_id)
                         .number(row.workspace_id)
                         .number(row.id));
        if (row.status == schemas::build_status::building)
            entries.mark(key_of(table::unfinished_build).number(row.id));
    }
    static list_entries listed_in(const schemas::build& row) {
        return {{0, row.id.value, 0}, {row_list::builds_of(row.workspace_id)}};
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

std::optional<schemas::build_id> builds::newest_of(const state::state_view& state,
                                                   schemas::workspace_id workspace,
                                                   schemas::build_id before) {
    std::optional<listed> after;
    if (before) after = listed{0, before.value, 0};
    std::optional<schemas::build_id> newest;
    lists::each(state, row_list::builds_of(workspace), list_order::newest_first, after,
                [&](const listed& entry) {
                    newest = schemas::build_id{entry.id};
                    return false;
                });
    return newest;
}

void builds::each_unfinished(const state::state_view& state, const visitor<schemas::build_id>& visit) {
    each_id_under(state, key_of(table::unfinished_build), schemas::build_id{}, visit);
}

}  // namespace herald::storage::registry::tables
