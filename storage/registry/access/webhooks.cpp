// Who may change webhooks (wire.md §7 "Who may change a webhook").
#include "storage/registry/tables/webhooks.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/tables/installation.hpp"

namespace herald::storage::registry::access {

using state::state_view;

namespace {

bool are_webhooks_by_workspace_admins(const state_view& state) {
    return tables::installation_settings::find(state).webhooks_by == schemas::webhooks_by::workspace_admins;
}

}  // namespace

bool may_change_webhooks(const state_view& state, schemas::user_id user,
                         const schemas::workspace& workspace) {
    return is_system_admin(state, user) ||
           (are_webhooks_by_workspace_admins(state) && is_workspace_admin(state, user, workspace));
}

result<void> require_webhook_admin(const state_view& state, schemas::user_id user,
                                   const schemas::workspace& workspace, std::string_view what) {
    if (may_change_webhooks(state, user, workspace)) return {};
    if (!are_webhooks_by_workspace_admins(state)) return require_system_admin(state, user, what);
    return runtime::permission_denied(
        {what, " needs an admin of the workspace \"", workspace.name, "\" or a system administrator"});
}

result<void> require_webhook_admin(const state_view& state, schemas::user_id user, std::string_view what) {
    if (are_webhooks_by_workspace_admins(state)) return {};
    return require_system_admin(state, user, what);
}

result<placed<schemas::webhook>> webhook_to_change(const state_view& state, schemas::user_id user,
                                                   schemas::webhook_id id, std::string_view what) {
    if (const auto may = require_webhook_admin(state, user, what); !may) return may.error();
    auto hook = tables::webhooks::find(state, id);
    auto workspace = hook ? find_workspace(state, hook->workspace_id) : std::nullopt;
    if (!workspace || !is_seen(state, user, *workspace))
        return runtime::not_found({"webhook ", id.value, " not found"});
    if (const auto may = require_webhook_admin(state, user, *workspace, what); !may) return may.error();
    return placed<schemas::webhook>{*std::move(hook), *std::move(workspace)};
}

}  // namespace herald::storage::registry::access
