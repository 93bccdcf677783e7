// Replays; found by id, by workspace, and those that have not ended.
#pragma once

#include "schemas/deliveries.hpp"
#include "storage/registry/tables/keyed_table.hpp"

namespace herald::storage::registry::tables {

extern template class keyed_table<schemas::replay, schemas::replay_id>;

class replays final : public keyed_table<schemas::replay, schemas::replay_id> {
  public:
    /// The workspace's replays by descending id, those before `before` (0: all).
    static void each_back_of(const state::state_view&, schemas::workspace_id, schemas::replay_id before,
                             const visitor<schemas::replay_id>&);
    /// Those that run or are paused, by ascending id.
    static void each_unfinished(const state::state_view&, const visitor<schemas::replay_id>&);
};

}  // namespace herald::storage::registry::tables
