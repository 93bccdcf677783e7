// Who may do what (wire.md §2), decided from the state alone, by rules of apply and by reads alike.
//
// The roles and groups that are built in are made with the log: GENESIS,
// storage/registry/rules/organizations.cpp.
//
// No READ on a thing → not_found, as if it were not there; READ without the action → permission_denied.
#pragma once

#include "schemas/deployment.hpp"
#include "schemas/identity.hpp"
#include "schemas/registry.hpp"
#include "schemas/webhooks.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::access {

/// The user with this e-mail (ignoring case) who has a developer key or a session with this SHA-256 (32
/// bytes); null when there is none.
std::shared_ptr<const schemas::user> user_with_key(const state::state_view&, std::string_view email,
                                                   std::string_view key_hash);
/// Whether this is the hash of one of the user's developer keys, or of one of their sessions.
bool is_key_of(const state::state_view&, schemas::user_id, std::string_view key_hash);
bool is_system_admin(const state::state_view&, schemas::user_id);
bool is_member(const state::state_view&, schemas::group_id, schemas::user_id);
/// Whether the result is remembered for the next caller. A caller that goes through many workspaces does not:
/// it would displace what others need.
enum class remembering : std::uint8_t { yes, no };
/// Whether a role of one of the user's groups allows the action there. The owner of a personal workspace and
/// the members of `Admins` may do everything in it.
bool is_allowed(const state::state_view&, schemas::user_id, const schemas::workspace&,
                schemas::protected_type, schemas::action, remembering = remembering::yes);
/// Whether the user is a member of `Admins` or of a group with `Super User` there, or the owner.
bool is_workspace_admin(const state::state_view&, schemas::user_id, const schemas::workspace&);
/// Whether the user may report scans there: by UPDATE on models, or by a role's mark.
bool may_report_scans(const state::state_view&, schemas::user_id, const schemas::workspace&);
/// Whether the user sees the workspace at all, by any READ in it.
bool is_visible(const state::state_view&, schemas::user_id, const schemas::workspace&,
                remembering = remembering::yes);
/// Likewise; system administrators see all workspaces.
bool is_seen(const state::state_view&, schemas::user_id, const schemas::workspace&);

/// permission_denied "… needs a system administrator".
result<void> require_system_admin(const state::state_view&, schemas::user_id, std::string_view what);
/// Whether the user may create, change and delete the workspace's webhooks: system administrators, and with
/// webhooks_by = workspace-admins the workspace's admins.
bool may_change_webhooks(const state::state_view&, schemas::user_id, const schemas::workspace&);
/// permission_denied "… needs a system administrator", or who else may.
result<void> require_webhook_admin(const state::state_view&, schemas::user_id, const schemas::workspace&,
                                   std::string_view what);
/// Whatever the workspace: while only system administrators may change webhooks, others are refused whether
/// or not there is one.
result<void> require_webhook_admin(const state::state_view&, schemas::user_id, std::string_view what);
/// not_found without READ, permission_denied without the action. `what` names the thing in the not_found
/// text.
result<void> require(const state::state_view&, schemas::user_id, const schemas::workspace&,
                     schemas::protected_type, schemas::action, std::string_view what);

/// For what is made or looked for in a workspace: not_found, naming `what`, when the user sees nothing of the
/// workspace and may not do this there; permission_denied without READ or the action.
result<void> require_in(const state::state_view&, schemas::user_id, const schemas::workspace&,
                        schemas::protected_type, schemas::action, std::string_view what);

/// Whether one of the user's groups is the organisation's.
bool is_in_organization(const state::state_view&, schemas::user_id, schemas::organization_id);
/// The user's own workspace; empty for one who has none: the first administrator, and removed ones.
std::optional<schemas::workspace> own_workspace_of(const state::state_view&, const schemas::user&);
/// The default workspace that the user set, if it exists and they may read it; otherwise their own one;
/// without one, the built-in one of their organisation. 0: none of these.
schemas::workspace_id default_workspace_of(const state::state_view&, const schemas::user&);

/// Empty for one that was deleted, too.
std::optional<schemas::workspace> find_workspace(const state::state_view&, schemas::workspace_id);
/// The workspace that a row names, even if it was deleted and the row is about to follow. Throws
/// state_corrupt when it does not exist.
schemas::workspace workspace_of(const state::state_view&, schemas::workspace_id);
/// Errors: not_found for an unknown name (the caller checks whether the user may see the workspace).
result<schemas::workspace> workspace_named(const state::state_view&, std::string_view name);
/// A workspace that the user sees and is a workspace admin of. Errors: not_found; permission_denied.
result<schemas::workspace> administered_workspace(const state::state_view&, schemas::user_id,
                                                  std::string_view name);

/// A row together with the workspace whose permissions apply to it.
template <class Row>
struct placed {
    Row row;
    schemas::workspace workspace;
};
/// not_found when it does not exist or the user may not read it.
result<placed<schemas::registered_model>> readable_model(const state::state_view&, schemas::user_id,
                                                         schemas::model_id);
result<placed<schemas::registered_model>> readable_model(const state::state_view&, schemas::user_id,
                                                         std::string_view workspace_name,
                                                         std::string_view model_name);
/// False for a row whose model was deleted: it is still to be erased, and counts as absent everywhere.
bool is_there(const state::state_view&, const schemas::model_version&);
result<placed<schemas::model_version>> readable_version(const state::state_view&, schemas::user_id,
                                                        schemas::version_id);
/// The version must belong to that model; otherwise not_found.
result<placed<schemas::model_version>> readable_version(const state::state_view&, schemas::user_id,
                                                        schemas::model_id, schemas::version_id);
/// The last part of a long path: the id of a version of this model that the user may read, otherwise the name
/// of one (wire.md §3).
result<placed<schemas::model_version>> readable_version(const state::state_view&, schemas::user_id,
                                                        const schemas::registered_model&,
                                                        std::string_view id_or_name);
/// A webhook that the user may change. Errors: permission_denied; not_found, also in a workspace that the
/// user does not see.
result<placed<schemas::webhook>> webhook_to_change(const state::state_view&, schemas::user_id,
                                                   schemas::webhook_id, std::string_view what);
/// A build may be read by anyone who may read models or endpoints in its workspace.
bool may_read_builds(const state::state_view&, schemas::user_id, const schemas::workspace&);
result<placed<schemas::build>> readable_build(const state::state_view&, schemas::user_id, schemas::build_id);
/// The build must belong to the workspace of that name; otherwise not_found.
result<placed<schemas::build>> readable_build(const state::state_view&, schemas::user_id,
                                              std::string_view workspace_name, schemas::build_id);

/// The workspace that a deployment path names: by its name, or by its id where no workspace has that name.
/// not_found when there is none (the caller checks whether the user may see it).
result<schemas::workspace> workspace_in_path(const state::state_view&, std::string_view name_or_id);
/// Builds and their scans need CREATE or DEPLOY on ENDPOINT. Errors: permission_denied.
result<void> require_building(const state::state_view&, schemas::user_id, const schemas::workspace&);
/// As readable_build, for such a path.
result<placed<schemas::build>> readable_build_in_path(const state::state_view&, schemas::user_id,
                                                      std::string_view workspace_name_or_id,
                                                      schemas::build_id);

}  // namespace herald::storage::registry::access
