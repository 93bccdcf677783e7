// What the rules of users, organisations, groups, roles and workspaces share.
#pragma once

#include "schemas/identity.hpp"
#include "storage/registry/context/rule_context.hpp"
#include "storage/registry/find/directory.hpp"

namespace herald::storage::registry::rules {

/// The one that GENESIS makes. New users join it.
constexpr schemas::organization_id first_organization{1};
/// The administrator whom GENESIS makes.
constexpr schemas::user_id first_administrator{1};

struct founded_organization {
    schemas::organization organization;
    schemas::group admins, all_users;
    schemas::workspace workspace;  // of the organisation's name
};
/// An organisation with what every one has: groups, roles and a workspace, all built in.
founded_organization found_organization(context::rule_context&, const std::string& name,
                                        const std::vector<schemas::stage>& require_approval_for);

/// 0 when there is none.
schemas::group_id group_named(const state::state_view&, schemas::organization_id, std::string_view name);
/// Whether the user is in the organisation's Admins, or a system administrator.
bool administers(const state::state_view&, schemas::user_id, schemas::organization_id);
/// Checks that the sender may administer the organisation. Errors: not_found when they do not belong to it;
/// permission_denied "<what> needs a member of Admins or a system administrator".
result<schemas::organization> organization_to_change(context::rule_context&, schemas::organization_id,
                                                     std::string_view what);

/// The same of the organisation's record with this id: a "group", a "role" or a "workspace". Errors: also
/// not_found for the record.
template <class Table, schemas::numeric_id Id>
result<typename Table::row_type> record_to_change(context::rule_context& context,
                                                  schemas::organization_id org, std::string_view kind, Id id,
                                                  std::string_view what) {
    if (!find::organization_of(context.state, context.principal(), org))
        return runtime::not_found({"organization ", org.value, " not found"});
    auto row = Table::find(context.state, id);
    bool is_there = row && row->org_id == org;
    if constexpr (requires { row->removed; }) is_there = is_there && !row->removed;
    if (!is_there) return runtime::not_found({kind, " ", id.value, " not found in organization ", org.value});
    if (const auto may = organization_to_change(context, org, what); !may) return may.error();
    return *std::move(row);
}

/// The user whose keys or names the sender changes: the sender (also for an id of 0), anybody for a system
/// administrator, and for those who administer an organisation its service accounts that are not system
/// administrators. Errors: permission_denied "<what> needs a system administrator"; not_found.
result<schemas::user> user_to_change(context::rule_context&, schemas::user_id, std::string_view what);

struct fresh_user {
    schemas::organization_id org = first_organization;
    std::string email;
    std::string username;  // empty: the e-mail
    std::string full_name;
    std::string key_hash;
    bool service_account = false;
    schemas::uuid user_uuid{};
    std::string description;                        // of a service account
    schemas::workspace_id associated_workspace_id;  // likewise
};
/// A user with an own workspace, in the organisation's All Users. Errors: invalid_argument; already_exists
/// for the e-mail or username, or for a workspace of the user's name.
result<schemas::user> add_user(context::rule_context&, const fresh_user&);
/// E-mails and usernames are one set of names, whatever their case: nobody gets one that is another user's.
/// Nor is a user named as a workspace that is not the own one. Errors: already_exists.
result<void> check_names_are_free(context::rule_context&, const std::string& email,
                                  const std::string& username, schemas::user_id self);
/// Writes a user's new names, and those of what is named after the user.
void rename_user(context::rule_context&, const schemas::user& before, const schemas::user& after);
/// Ends keys, sessions and memberships; the row stays as the author of what was done. Errors:
/// failed_precondition for oneself and for the first administrator.
result<void> end_user(context::rule_context&, const schemas::user&);

/// The refusal to take the first administrator out of Admins of the first organisation: its workspace is the
/// only one that there is for this user for sure.
error first_administrator_stays();
/// Ends at most limits::memberships_per_sweep memberships of the user; the rest is swept.
void end_memberships(context::rule_context&, schemas::user_id);
/// Erases the group at once, and its members little by little.
void erase_group(context::rule_context&, const schemas::group&);
void erase_session(context::rule_context&, const schemas::session&);
/// Those of the user that this key made (its SHA-256), all if it is empty: at most
/// limits::sessions_per_user_max.
void end_sessions(context::rule_context&, schemas::user_id, std::string_view made_with = {});
/// failed_precondition saying what the workspace holds that must be deleted first.
result<void> check_is_empty(const state::state_view&, const schemas::workspace&);
/// Nobody sees the workspace from now on; its builds are swept.
void erase_workspace(context::rule_context&, const schemas::workspace&);

}  // namespace herald::storage::registry::rules
