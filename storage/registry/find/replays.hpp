// Replays, for answers.
#pragma once

#include <optional>
#include <vector>

#include "schemas/deliveries.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::find {

std::optional<schemas::replay> find_replay(const state::state_view&, schemas::replay_id);
/// The workspace's replays, the newest first.
std::vector<schemas::replay> replays_of(const state::state_view&, schemas::workspace_id);

}  // namespace herald::storage::registry::find
