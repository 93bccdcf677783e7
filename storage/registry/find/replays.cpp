#include "storage/registry/find/replays.hpp"

#include "storage/registry/tables/replays.hpp"

namespace herald::storage::registry::find {

std::optional<schemas::replay> find_replay(const state::state_view& state, schemas::replay_id id) {
    return tables::replays::find(state, id);
}

/// Apply bounds how many there are.
std::vector<schemas::replay> replays_of(const state::state_view& state, schemas::workspace_id workspace) {
    std::vector<schemas::replay> found;
    tables::replays::each_back_of(state, workspace, {}, [&](schemas::replay_id id) {
        if (auto row = tables::replays::find(state, id)) found.push_back(*std::move(row));
        return true;
    });
    return found;
}

}  // namespace herald::storage::registry::find
