#include "storage/registry/find/webhooks.hpp"

#include "storage/registry/access/access.hpp"
#include "storage/registry/find/searching.hpp"
#include "storage/registry/tables/webhooks.hpp"

namespace herald::storage::registry::find {

std::optional<schemas::webhook> find_webhook(const state::state_view& state, schemas::webhook_id id) {
    return tables::webhooks::find(state, id);
}

std::vector<schemas::webhook> webhooks_of(const state::state_view& state, schemas::workspace_id workspace) {
    std::vector<schemas::webhook> found;
    tables::webhooks::each_of(state, workspace, {}, [&](schemas::webhook_id id) {
        if (auto hook = tables::webhooks::find(state, id)) found.push_back(*std::move(hook));
        return true;
    });
    return found;
}

result<search_pointer<schemas::webhook>> search_webhooks(
    const state::state_view& state, schemas::user_id user,
    std::function<bool(const schemas::webhook&)> is_wanted,
    const std::optional<schemas::pagination>& pagination, std::string_view asked) {
    auto is_seen = [&state, user, is_wanted = std::move(is_wanted),
                    sees_all = access::is_system_admin(state, user)](const schemas::webhook& hook) {
        return is_wanted(hook) &&
               (sees_all ||
                access::is_workspace_admin(state, user, access::workspace_of(state, hook.workspace_id)));
    };
    return begun<filtering_search<tables::webhooks>>(page_by_age(pagination, asked), state,
                                                     std::move(is_seen));
}

}  // namespace herald::storage::registry::find
