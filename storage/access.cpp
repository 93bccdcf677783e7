#include "storage/access.hpp"

#include <algorithm>

namespace herald::storage {
namespace {

using schemas::action;
using schemas::protected_type;

bool gives(const schemas::role& role, protected_type type, action wanted) {
    for (const schemas::resource_actions& entry : role.actions)
        if (entry.resource_type == type &&
            std::find(entry.allowed_actions.begin(), entry.allowed_actions.end(), wanted) !=
                entry.allowed_actions.end())
            return true;
    return false;
}

/// Whether `test` holds for a role that one of the user's groups has in the workspace.
template <class Test>
bool has_role(const state_view& state, schemas::user_id user, const schemas::workspace& workspace,
              Test test) {
    for (const schemas::permission& permission : workspace.permissions) {
        if (!is_member(state, permission.group_id, user)) continue;
        const auto role = find_row<schemas::role>(state, key_of(table::role).number(permission.role_id));
        if (role && test(*role)) return true;
    }
    return false;
}

/// The owner of a personal workspace; a member of the group Admins of the workspace's organisation.
bool is_master(const state_view& state, schemas::user_id user, const schemas::workspace& workspace) {
    if (!workspace.org_id) return workspace.owner == user;
    return is_member(state, workspace.admins, user);
}

std::string quoted(std::string_view name) { return "\"" + std::string(name) + "\""; }

error no_such(std::string_view what) { return runtime::not_found(std::string(what) + " not found"); }

}  // namespace

bool is_system_admin(const state_view& state, schemas::user_id id) {
    const auto user = find_row<schemas::user>(state, key_of(table::user).number(id));
    return user && user->system_admin;
}

bool is_member(const state_view& state, schemas::group_id group, schemas::user_id user) {
    return state.get(key_of(table::group_member).number(group).number(user)).has_value();
}

bool is_allowed(const state_view& state, schemas::user_id user, const schemas::workspace& workspace,
                protected_type type, action wanted) {
    return is_master(state, user, workspace) ||
           has_role(state, user, workspace,
                    [&](const schemas::role& role) { return gives(role, type, wanted); });
}

bool is_workspace_admin(const state_view& state, schemas::user_id user, const schemas::workspace& workspace) {
    return is_master(state, user, workspace) ||
           has_role(state, user, workspace,
                    [](const schemas::role& role) { return role.built_in && role.name == "Super User"; });
}

bool is_visible(const state_view& state, schemas::user_id user, const schemas::workspace& workspace) {
    return is_master(state, user, workspace) ||
           has_role(state, user, workspace, [](const schemas::role& role) {
               return std::any_of(role.actions.begin(), role.actions.end(),
                                  [&](const schemas::resource_actions& entry) {
                                      return gives(role, entry.resource_type, action::read);
                                  });
           });
}

result<void> require_system_admin(const state_view& state, schemas::user_id user, std::string_view what) {
    if (is_system_admin(state, user)) return {};
    return runtime::permission_denied(std::string(what) + " needs a system administrator");
}

result<void> require(const state_view& state, schemas::user_id user, const schemas::workspace& workspace,
                     protected_type type, action wanted, std::string_view what) {
    if (is_allowed(state, user, workspace, type, wanted)) return {};
    if (!is_allowed(state, user, workspace, type, action::read)) return no_such(what);
    return runtime::permission_denied("this needs the permission " + std::string(name_of(wanted)) + " on " +
                                      std::string(name_of(type)) + " in the workspace " +
                                      quoted(workspace.name));
}

std::optional<schemas::workspace> find_workspace(const state_view& state, schemas::workspace_id id) {
    return find_row<schemas::workspace>(state, key_of(table::workspace).number(id));
}

result<schemas::workspace> workspace_named(const state_view& state, std::string_view name) {
    const auto id = find_number(state, key_of(table::workspace_by_name).text(name));
    if (!id) return no_such("workspace " + quoted(name));
    return *find_workspace(state, schemas::workspace_id{*id});
}

result<placed<schemas::registered_model>> readable_model(const state_view& state, schemas::user_id user,
                                                         schemas::model_id id) {
    const std::string what = "registered model " + std::to_string(id.value);
    auto model = find_row<schemas::registered_model>(state, key_of(table::model).number(id));
    if (!model) return no_such(what);
    auto workspace = *find_workspace(state, model->workspace_id);
    if (const auto may =
            require(state, user, workspace, protected_type::registered_model, action::read, what);
        !may)
        return may.error();
    return placed<schemas::registered_model>{*std::move(model), std::move(workspace)};
}

result<placed<schemas::registered_model>> readable_model(const state_view& state, schemas::user_id user,
                                                         std::string_view workspace_name,
                                                         std::string_view model_name) {
    const auto workspace = workspace_named(state, workspace_name);
    if (!workspace) return workspace.error();
    const auto id = find_number(state, key_of(table::model_by_name).number(workspace->id).text(model_name));
    const error missing =
        no_such("registered model " + quoted(model_name) + " in the workspace " + quoted(workspace_name));
    if (!id) return missing;
    auto found = readable_model(state, user, schemas::model_id{*id});
    if (!found) return missing;
    return found;
}

result<placed<schemas::model_version>> readable_version(const state_view& state, schemas::user_id user,
                                                        schemas::version_id id) {
    const std::string what = "model version " + std::to_string(id.value);
    auto version = find_row<schemas::model_version>(state, key_of(table::version).number(id));
    if (!version) return no_such(what);
    auto workspace = *find_workspace(state, version->workspace_id);
    if (const auto may =
            require(state, user, workspace, protected_type::registered_model, action::read, what);
        !may)
        return may.error();
    return placed<schemas::model_version>{*std::move(version), std::move(workspace)};
}

result<placed<schemas::build>> readable_build(const state_view& state, schemas::user_id user,
                                              schemas::build_id id) {
    const std::string what = "build " + std::to_string(id.value);
    auto build = find_row<schemas::build>(state, key_of(table::build).number(id));
    if (!build) return no_such(what);
    auto workspace = *find_workspace(state, build->workspace_id);
    const bool readable = is_allowed(state, user, workspace, protected_type::endpoint, action::read) ||
                          is_allowed(state, user, workspace, protected_type::registered_model, action::read);
    if (!readable) return no_such(what);
    return placed<schemas::build>{*std::move(build), std::move(workspace)};
}

}  // namespace herald::storage
