// Webhooks, as a caller may see them.
#pragma once

#include <functional>
#include <optional>

#include "schemas/webhooks.hpp"
#include "storage/registry/find/find.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::find {

std::optional<schemas::webhook> find_webhook(const state::state_view&, schemas::webhook_id);
/// The requested webhooks, by ascending id, in the workspaces that the user sees; a system administrator sees
/// all. At most limits::list_rows_max of them are in the page, and there is no next one.
found_page<schemas::webhook> webhooks_visible_to(const state::state_view&, schemas::user_id,
                                                 const std::function<bool(const schemas::webhook&)>& wanted);

}  // namespace herald::storage::registry::find
