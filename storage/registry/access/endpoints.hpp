// Who may see and change endpoints, their stages and tokens (wire.md §5).
#pragma once

#include "schemas/endpoints.hpp"
#include "storage/registry/access/access.hpp"

namespace herald::storage::registry::access {

/// The endpoint, in the workspace that the path names by its name or id. not_found when there is none, and
/// when the user may not read it.
result<placed<schemas::endpoint>> readable_endpoint(const state::state_view&, schemas::user_id,
                                                    std::string_view workspace_name_or_id,
                                                    const schemas::uuid&);
/// The same, in whatever workspace.
result<placed<schemas::endpoint>> readable_endpoint(const state::state_view&, schemas::user_id,
                                                    const schemas::uuid&);

struct placed_stage {
    schemas::endpoint_stage row;
    schemas::endpoint endpoint;
    schemas::workspace workspace;
};
/// The stage must be one of the endpoint's; otherwise not_found, as above.
result<placed_stage> readable_stage(const state::state_view&, schemas::user_id,
                                    std::string_view workspace_name_or_id, const schemas::uuid& endpoint,
                                    schemas::endpoint_stage_id);

/// Stages, tokens and updates need UPDATE or DEPLOY on ENDPOINT; who has one also sees the values of tokens.
bool may_deploy(const state::state_view&, schemas::user_id, const schemas::workspace&);
/// Errors: permission_denied.
result<void> require_deploying(const state::state_view&, schemas::user_id, const schemas::workspace&);

}  // namespace herald::storage::registry::access
