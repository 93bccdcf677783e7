// Users, sessions and service accounts, a page at a time by ascending id (wire.md §2).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schemas/find.hpp"
#include "schemas/identity.hpp"
#include "storage/registry/find/find.hpp"

namespace herald::storage::registry::find {

struct wanted_users {
    std::vector<schemas::user_id> ids;  // also of removed users
    std::vector<std::string> emails, usernames;
    std::optional<schemas::pagination> pagination;
};
/// Whether the viewer is the user, shares an organisation with them, or is a system administrator. Removed
/// users are in no organisation, so only administrators see them.
bool may_see(const state::state_view&, schemas::user_id viewer, const schemas::user&);
/// Users who are named in any of the three ways, all if none is named, of those whom the viewer may see; as
/// they are shown (directory.hpp). Errors: invalid_argument for the pagination.
result<search_pointer<schemas::user>> search_users(const state::state_view&, schemas::user_id viewer,
                                                   wanted_users);
/// Who is in the organisation's All Users, as they are shown.
result<search_pointer<schemas::user>> search_members(const state::state_view&, schemas::organization_id,
                                                     const std::optional<schemas::pagination>&);

/// An empty list restricts nothing.
struct wanted_sessions {
    std::vector<schemas::session_id> ids;
    std::vector<schemas::user_id> users;
    std::vector<std::string> names;
    std::optional<schemas::pagination> pagination;
};
/// The user's session with a key of this hash (32 bytes).
std::optional<schemas::session_id> session_with_key(const state::state_view&, schemas::user_id,
                                                    std::string_view key_hash);
/// Whether the account is a service account of an organisation of whose Admins the other is a member, and no
/// system administrator.
bool looks_after(const state::state_view&, schemas::user_id administrator, const schemas::user& account);
/// The user's own, and those of the accounts that the user looks after; everybody's for a system
/// administrator. Errors: as search_users.
result<search_pointer<schemas::session>> search_sessions(const state::state_view&, schemas::user_id,
                                                         wanted_sessions);

/// An empty list restricts nothing.
struct wanted_accounts {
    std::vector<schemas::user_id> ids;
    std::vector<schemas::workspace_id> workspaces;
    std::vector<std::string> usernames;
    std::optional<schemas::pagination> pagination;
};
/// Those of the organisations that the user belongs to; all for a system administrator. Errors: as
/// search_users.
result<search_pointer<schemas::user>> search_service_accounts(const state::state_view&, schemas::user_id,
                                                              wanted_accounts);

result<search_pointer<schemas::user>> search_system_admins(const state::state_view&,
                                                           const std::optional<schemas::pagination>&);

}  // namespace herald::storage::registry::find
