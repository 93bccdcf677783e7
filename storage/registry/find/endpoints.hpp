// Endpoints with their stages, tokens and logs, for answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "schemas/endpoints.hpp"
#include "schemas/identity.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::find {

/// How many endpoints of the workspace the user may read: all or none.
std::uint64_t count_endpoints(const state::state_view&, schemas::user_id, const schemas::workspace&);
/// The workspace's endpoints in the order of their ids, at most `most` behind `after`.
std::vector<schemas::endpoint> endpoints_of(const state::state_view&, schemas::workspace_id,
                                            const std::optional<schemas::uuid>& after, std::uint64_t most);
/// In the order in which they were made.
std::vector<schemas::endpoint_stage> stages_of(const state::state_view&, const schemas::uuid& endpoint);
/// The stage's tokens that have not ended by then, the default one first.
std::vector<schemas::access_token> tokens_of(const state::state_view&, schemas::endpoint_stage_id,
                                             std::int64_t now_ms);
/// Oldest first.
std::vector<schemas::stage_log_entry> log_of_stage(const state::state_view&, schemas::endpoint_stage_id);
/// Whether a version that one of the endpoint's stages serves, or is about to, has an artifact with this key.
bool serves_artifact(const state::state_view&, const schemas::uuid& endpoint, std::string_view key);

}  // namespace herald::storage::registry::find
