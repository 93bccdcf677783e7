// The directory as a caller may see it: users, workspaces, and organisations with their groups and roles.
#pragma once

#include <set>
#include <string_view>
#include <vector>

#include "runtime/error.hpp"
#include "schemas/identity.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/find/find.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::find {

/// The user with this e-mail, ignoring case.
std::optional<schemas::user> user_with_email(const state::state_view&, std::string_view email);
/// Also one who was removed.
std::optional<schemas::user> user_with_id(const state::state_view&, schemas::user_id);
/// The user with this username, ignoring case.
std::optional<schemas::user> user_named(const state::state_view&, std::string_view username);
/// With the default workspace that holds now (access::default_workspace_of).
schemas::user as_shown(const state::state_view&, schemas::user);
/// The workspaces that the user sees, by ascending id, the own one last. If the user sees no workspace of one
/// of their organisations, its built-in one is listed, though without rights there. Errors: invalid_argument
/// for pagination that cannot be used, as for all searches here.
result<search_pointer<schemas::workspace>> search_visible_workspaces(
    const state::state_view&, schemas::user_id, const std::optional<schemas::pagination>&);

/// The organisations to which one of the user's groups belongs.
std::set<schemas::organization_id> organizations_with(const state::state_view&, schemas::user_id);
/// The same by ascending id; all for a system
/// administrator, who also finds each of them by id and name.
result<search_pointer<schemas::organization>> search_organizations(const state::state_view&, schemas::user_id,
                                                                   const std::optional<schemas::pagination>&);
/// Empty when there is none with this id, or when the user is in none of its groups.
std::optional<schemas::organization> organization_of(const state::state_view&, schemas::user_id,
                                                     schemas::organization_id);
std::optional<schemas::organization> organization_named(const state::state_view&, schemas::user_id,
                                                        std::string_view name);
/// Those of the organisation, by ascending id.
std::vector<schemas::workspace> workspaces_of(const state::state_view&, schemas::organization_id);
result<search_pointer<schemas::workspace>> search_workspaces(const state::state_view&,
                                                             schemas::organization_id,
                                                             const std::optional<schemas::pagination>&);
result<search_pointer<schemas::group>> search_groups(const state::state_view&, schemas::organization_id,
                                                     const std::optional<schemas::pagination>&);
result<search_pointer<schemas::role>> search_roles(const state::state_view&, schemas::organization_id,
                                                   const std::optional<schemas::pagination>&);
/// With the first limits::list_rows_max of its members.
schemas::group_members with_members(const state::state_view&, schemas::group);
/// Empty when the organisation has none with this id.
std::optional<schemas::group> group_of(const state::state_view&, schemas::organization_id, schemas::group_id);
std::optional<schemas::role> role_of(const state::state_view&, schemas::organization_id, schemas::role_id);
std::vector<schemas::group> groups_of(const state::state_view&, schemas::organization_id);
std::vector<schemas::role> roles_of(const state::state_view&, schemas::organization_id);

}  // namespace herald::storage::registry::find
