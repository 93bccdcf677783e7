// Webhooks, as a caller may see them.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "schemas/webhooks.hpp"
#include "storage/registry/find/find.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::find {

std::optional<schemas::webhook> find_webhook(const state::state_view&, schemas::webhook_id);
/// The workspace's webhooks, by ascending id.
std::vector<schemas::webhook> webhooks_of(const state::state_view&, schemas::workspace_id);
/// The wanted webhooks, by ascending id, in the workspaces that the user sees; a system administrator sees
/// all. `asked`: the question (question.hpp). Errors: invalid_argument for the pagination.
result<search_pointer<schemas::webhook>> search_webhooks(
    const state::state_view&, schemas::user_id, std::function<bool(const schemas::webhook&)> is_wanted,
    const std::optional<schemas::pagination>&, std::string_view asked);

}  // namespace herald::storage::registry::find
