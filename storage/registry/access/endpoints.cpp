#include "storage/registry/access/endpoints.hpp"

#include "runtime/random.hpp"
#include "storage/registry/tables/endpoints.hpp"

namespace herald::storage::registry::access {

using schemas::action;
using schemas::protected_type;
using state::state_view;

result<placed<schemas::endpoint>> readable_endpoint(const state_view& state, schemas::user_id user,
                                                    std::string_view workspace_name_or_id,
                                                    const schemas::uuid& id) {
    const error missing = runtime::not_found(
        {"endpoint ", runtime::uuid_text(id), " not found in the workspace \"", workspace_name_or_id, "\""});
    auto meant = workspace_in_path(state, workspace_name_or_id);
    if (!meant) return missing;
    auto row = tables::endpoints::find(state, id);
    if (!row || row->workspace_id != meant->id) return missing;
    if (!is_allowed(state, user, *meant, protected_type::endpoint, action::read)) return missing;
    return placed<schemas::endpoint>{*std::move(row), *std::move(meant)};
}

result<placed<schemas::endpoint>> readable_endpoint(const state_view& state, schemas::user_id user,
                                                    const schemas::uuid& id) {
    const error missing = runtime::not_found({"endpoint ", runtime::uuid_text(id), " not found"});
    auto row = tables::endpoints::find(state, id);
    if (!row) return missing;
    auto workspace = workspace_of(state, row->workspace_id);
    if (!is_allowed(state, user, workspace, protected_type::endpoint, action::read)) return missing;
    return placed<schemas::endpoint>{*std::move(row), std::move(workspace)};
}

result<placed_stage> readable_stage(const state_view& state, schemas::user_id user,
                                    std::string_view workspace_name_or_id, const schemas::uuid& endpoint,
                                    schemas::endpoint_stage_id id) {
    auto found = readable_endpoint(state, user, workspace_name_or_id, endpoint);
    if (!found) return found.error();
    auto row = tables::endpoint_stages::find(state, id);
    if (!row || row->endpoint_id != endpoint)
        return runtime::not_found(
            {"stage ", id.value, " not found in endpoint ", runtime::uuid_text(endpoint)});
    return placed_stage{*std::move(row), std::move(found->row), std::move(found->workspace)};
}

bool may_deploy(const state_view& state, schemas::user_id user, const schemas::workspace& workspace) {
    return is_allowed(state, user, workspace, protected_type::endpoint, action::deploy) ||
           is_allowed(state, user, workspace, protected_type::endpoint, action::update);
}

result<void> require_deploying(const state_view& state, schemas::user_id user,
                               const schemas::workspace& workspace) {
    if (may_deploy(state, user, workspace)) return {};
    return runtime::permission_denied(
        {"this needs the permission UPDATE or DEPLOY on ENDPOINT in the workspace \"", workspace.name, "\""});
}

}  // namespace herald::storage::registry::access
