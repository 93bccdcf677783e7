#include "storage/registry/tables/replays.hpp"

#include "storage/registry/tables/description.hpp"

namespace herald::storage::registry::tables {

template <>
struct description<schemas::replay> {
    static constexpr table rows = table::replay;
    static schemas::replay_id key(const schemas::replay& row) { return row.id; }
    static void index(const schemas::replay& row, index_entries& entries) {
        entries.mark(key_of(table::replay_of_workspace).number(row.workspace_id).number(row.id));
        if (!schemas::has_ended(row.state)) entries.mark(key_of(table::running_replay).number(row.id));
    }
    static auto indexed(const schemas::replay& row) {
        return std::tuple(row.workspace_id, schemas::has_ended(row.state));
    }
};

template class keyed_table<schemas::replay, schemas::replay_id>;

void replays::each_back_of(const state::state_view& state, schemas::workspace_id workspace,
                           schemas::replay_id before, const visitor<schemas::replay_id>& visit) {
    each_id_back_under(state, key_of(table::replay_of_workspace).number(workspace), before, visit);
}

void replays::each_unfinished(const state::state_view& state, const visitor<schemas::replay_id>& visit) {
    each_id_under(state, key_of(table::running_replay), schemas::replay_id{}, visit);
}

}  // namespace herald::storage::registry::tables
