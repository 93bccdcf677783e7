// The directory as a caller may see it: users, workspaces, and organisations with their groups and roles.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/error.hpp"
#include "schemas/identity.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::find {

/// The user with this e-mail, ignoring case.
std::optional<schemas::user> user_with_email(const state::state_view&, std::string_view email);
/// The workspaces that the user sees, by ascending id.
std::vector<schemas::workspace> visible_workspaces(const state::state_view&, schemas::user_id);

/// The organisations to which one of the user's groups belongs, by ascending id.
std::vector<schemas::organization> organizations_of(const state::state_view&, schemas::user_id);
/// Empty when there is none with this id, or when the user is in none of its groups.
std::optional<schemas::organization> organization_of(const state::state_view&, schemas::user_id,
                                                     schemas::organization_id);
std::vector<schemas::group> groups_of(const state::state_view&, schemas::organization_id);
std::vector<schemas::role> roles_of(const state::state_view&, schemas::organization_id);

}  // namespace herald::storage::registry::find
