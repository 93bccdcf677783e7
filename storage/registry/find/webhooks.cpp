#include "storage/registry/find/webhooks.hpp"

#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/tables/webhooks.hpp"

namespace herald::storage::registry::find {

std::optional<schemas::webhook> find_webhook(const state::state_view& state, schemas::webhook_id id) {
    return tables::webhooks::find(state, id);
}

found_page<schemas::webhook> webhooks_visible_to(const state::state_view& state, schemas::user_id user,
                                                 const std::function<bool(const schemas::webhook&)>& wanted) {
    const bool sees_all = access::is_system_admin(state, user);
    found_page<schemas::webhook> found;
    tables::webhooks::each(state, [&](const schemas::webhook& hook) {
        if (!wanted(hook) ||
            !(sees_all || access::is_visible(state, user, access::workspace_of(state, hook.workspace_id))))
            return true;
        ++found.total_records;
        if (found.rows.size() < limits::list_rows_max) found.rows.push_back(hook);
        return true;
    });
    found.is_cut = found.rows.size() < found.total_records;
    return found;
}

}  // namespace herald::storage::registry::find
