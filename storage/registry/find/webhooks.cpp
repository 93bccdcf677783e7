#include "storage/registry/find/webhooks.hpp"

#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/tables/webhooks.hpp"

namespace herald::storage::registry::find {

std::optional<schemas::webhook> find_webhook(const state::state_view& state, schemas::webhook_id id) {
    return tables::webhooks::find(state, id);
}

std::vector<schemas::webhook> webhooks_visible_to(
    const state::state_view& state, schemas::user_id user,
    const std::function<bool(const schemas::webhook&)>& wanted) {
    const bool sees_all = access::is_system_admin(state, user);
    std::vector<schemas::webhook> found;
    tables::webhooks::each(state, [&](const schemas::webhook& hook) {
        if (wanted(hook) &&
            (sees_all || access::is_visible(state, user, access::workspace_of(state, hook.workspace_id))))
            found.push_back(hook);
        return found.size() < limits::list_rows_max;
    });
    return found;
}

}  // namespace herald::storage::registry::find
