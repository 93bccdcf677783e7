#include "storage/registry/access/access.hpp"

#include "runtime/crypto.hpp"
#include "runtime/text.hpp"
#include "storage/registry/access/access_memory.hpp"
#include "storage/registry/tables/builds.hpp"
#include "storage/registry/tables/deletions.hpp"
#include "storage/registry/tables/groups.hpp"
#include "storage/registry/tables/models.hpp"
#include "storage/registry/tables/sessions.hpp"
#include "storage/registry/tables/users.hpp"
#include "storage/registry/tables/versions.hpp"
#include "storage/registry/tables/workspaces.hpp"

namespace herald::storage::registry::access {
namespace {

using schemas::action;
using schemas::protected_type;
using state::state_view;

/// Memberships of a removed user may still be swept.
bool is_removed(const state_view& state, schemas::user_id id) {
    const auto user = tables::users::find(state, id);
    return user && user->removed;
}

bool is_master(const state_view& state, schemas::user_id user, const schemas::workspace& workspace) {
    if (!workspace.org_id) return workspace.owner == user;
    return is_member(state, workspace.admins, user);
}

void add_role(access_rights& rights, const schemas::role& role) {
    if (role.built_in && role.name == "Super User") rights.super_user = true;
    if (role.reports_scans) rights.reports_scans = true;
    for (const schemas::resource_actions& entry : role.actions)
        for (const action allowed : entry.allowed_actions)
            rights.actions |= access_rights::bit(entry.resource_type, allowed);
}

access_rights find_rights(const state_view& state, schemas::user_id user,
                          const schemas::workspace& workspace) {
    access_rights rights;
    if (workspace.removed || is_removed(state, user)) return rights;
    rights.everything = is_master(state, user, workspace);
    for (const schemas::permission& permission : workspace.permissions) {
        if (!tables::groups::has(state, permission.group_id) || !is_member(state, permission.group_id, user))
            continue;
        const auto role = tables::roles::find(state, permission.role_id);
        if (role) add_role(rights, *role);
    }
    return rights;
}

access_rights rights_of(const state_view& state, schemas::user_id user, const schemas::workspace& workspace,
                        remembering keeps = remembering::yes) {
    access_memory* const memory = access_memory::of(state);
    if (!memory) return find_rights(state, user, workspace);
    if (const auto known = memory->rights_of(user, workspace.id)) return *known;
    const access_rights found = find_rights(state, user, workspace);
    if (keeps == remembering::yes) memory->keep(user, workspace.id, found);
    return found;
}

/// Also one that was deleted and whose builds are not swept yet.
std::optional<schemas::workspace> stored_workspace(const state_view& state, schemas::workspace_id id) {
    access_memory* const memory = access_memory::of(state);
    if (memory)
        if (const auto known = memory->workspace_of(id)) return *known;
    auto found = tables::workspaces::find(state, id);
    if (memory && found) memory->keep(std::make_shared<const schemas::workspace>(*found));
    return found;
}

bool has_developer_key(const schemas::user& user, std::string_view key_hash) {
    return !key_hash.empty() && (runtime::constant_time_equal(key_hash, user.primary_key_hash) ||
                                 runtime::constant_time_equal(key_hash, user.secondary_key_hash));
}

/// A session opens as long as the key that made it.
bool has_session(const state_view& state, const schemas::user& user, std::string_view key_hash) {
    const auto id = key_hash.empty() ? std::nullopt : tables::sessions::with_key(state, user.id, key_hash);
    const auto session = id ? tables::sessions::find(state, *id) : std::nullopt;
    if (!session) return false;
    if (session->made_by == user.id) return has_developer_key(user, session->made_with);
    const auto maker = tables::users::find(state, session->made_by);
    return maker && has_developer_key(*maker, session->made_with);
}

bool has_key(const state_view& state, const schemas::user& user, std::string_view key_hash) {
    return has_developer_key(user, key_hash) || has_session(state, user, key_hash);
}

std::string quoted(std::string_view name) { return "\"" + std::string(name) + "\""; }

error missing_action(const schemas::workspace& workspace, protected_type type, action wanted) {
    return runtime::permission_denied({"this needs the permission ", name_of(wanted), " on ", name_of(type),
                                       " in the workspace ", quoted(workspace.name)});
}

error no_such(std::string_view what) { return runtime::not_found({what, " not found"}); }

error no_such_build(schemas::build_id id, std::string_view workspace) {
    return runtime::not_found({"build ", id.value, " not found in the workspace ", quoted(workspace)});
}

}  // namespace

bool is_key_of(const state_view& state, schemas::user_id id, std::string_view key_hash) {
    access_memory* const memory = access_memory::of(state);
    if (memory)
        if (const auto known = memory->user_of(key_hash); known && known->id == id) return true;
    auto user = tables::users::find(state, id);
    if (!user || !has_key(state, *user, key_hash)) return false;
    if (memory) memory->keep(key_hash, std::make_shared<const schemas::user>(*std::move(user)));
    return true;
}

bool is_system_admin(const state_view& state, schemas::user_id id) {
    const auto user = tables::users::find(state, id);
    return user && user->system_admin;
}

std::shared_ptr<const schemas::user> user_with_key(const state_view& state, std::string_view email,
                                                   std::string_view key_hash) {
    access_memory* const memory = access_memory::of(state);
    if (memory)
        if (auto known = memory->user_of(key_hash);
            known && runtime::equals_ignoring_case(known->email, email))
            return known;
    const auto id = tables::users::with_email(state, email);
    if (!id) return nullptr;
    auto user = tables::users::find(state, *id);
    if (!user) return nullptr;
    if (!has_key(state, *user, key_hash)) return nullptr;
    auto found = std::make_shared<const schemas::user>(*std::move(user));
    if (memory) memory->keep(key_hash, found);
    return found;
}

bool is_member(const state_view& state, schemas::group_id group, schemas::user_id user) {
    return tables::members::has(state, group, user);
}

bool is_allowed(const state_view& state, schemas::user_id user, const schemas::workspace& workspace,
                protected_type type, action wanted, remembering keeps) {
    return rights_of(state, user, workspace, keeps).allow(type, wanted);
}

bool is_workspace_admin(const state_view& state, schemas::user_id user, const schemas::workspace& workspace) {
    const access_rights rights = rights_of(state, user, workspace);
    return rights.everything || rights.super_user;
}

bool may_report_scans(const state_view& state, schemas::user_id user, const schemas::workspace& workspace) {
    const access_rights rights = rights_of(state, user, workspace);
    return rights.reports_scans || rights.allow(protected_type::registered_model, action::update);
}

bool is_visible(const state_view& state, schemas::user_id user, const schemas::workspace& workspace,
                remembering keeps) {
    return rights_of(state, user, workspace, keeps).may_read_something();
}

bool is_seen(const state_view& state, schemas::user_id user, const schemas::workspace& workspace) {
    return is_system_admin(state, user) || is_visible(state, user, workspace);
}

result<void> require_system_admin(const state_view& state, schemas::user_id user, std::string_view what) {
    if (is_system_admin(state, user)) return {};
    return runtime::permission_denied({what, " needs a system administrator"});
}

result<void> require(const state_view& state, schemas::user_id user, const schemas::workspace& workspace,
                     protected_type type, action wanted, std::string_view what) {
    const access_rights rights = rights_of(state, user, workspace);
    if (rights.allow(type, wanted)) return {};
    if (!rights.allow(type, action::read)) return no_such(what);
    return missing_action(workspace, type, wanted);
}

result<void> require_in(const state_view& state, schemas::user_id user, const schemas::workspace& workspace,
                        protected_type type, action wanted, std::string_view what) {
    const access_rights rights = rights_of(state, user, workspace);
    const bool may = rights.allow(type, wanted);
    if (!may && !rights.may_read_something()) return no_such(what);
    if (!may) return missing_action(workspace, type, wanted);
    if (!rights.allow(type, action::read)) return missing_action(workspace, type, action::read);
    return {};
}

std::optional<schemas::workspace> own_workspace_of(const state_view& state, const schemas::user& user) {
    const auto id = tables::workspaces::named(state, user.username);
    if (!id) return std::nullopt;
    auto found = find_workspace(state, *id);
    if (!found || found->owner != user.id) return std::nullopt;
    return found;
}

schemas::workspace_id default_workspace_of(const state_view& state, const schemas::user& user) {
    if (const auto set = find_workspace(state, user.default_workspace_id);
        set && is_visible(state, user.id, *set))
        return set->id;
    if (const auto own = own_workspace_of(state, user)) return own->id;
    if (user.removed) return {};  // who is in no organization
    schemas::workspace_id built_in;
    tables::workspaces::each(state, [&](const schemas::workspace& each) {
        if (each.built_in && !each.removed && is_in_organization(state, user.id, each.org_id))
            built_in = each.id;
        return !built_in;
    });
    return built_in;
}

bool is_in_organization(const state_view& state, schemas::user_id user, schemas::organization_id org) {
    bool found = false;
    tables::members::each_group_of(state, user, [&](schemas::group_id id) {
        const auto group = tables::groups::find(state, id);
        found = group && group->org_id == org;
        return !found;
    });
    return found;
}

std::optional<schemas::workspace> find_workspace(const state_view& state, schemas::workspace_id id) {
    auto found = stored_workspace(state, id);
    if (found && found->removed) return std::nullopt;
    return found;
}

schemas::workspace workspace_of(const state_view& state, schemas::workspace_id id) {
    auto found = stored_workspace(state, id);
    if (!found)
        throw state::state_corrupt{"a row names workspace " + std::to_string(id.value) +
                                   ", which is not there"};
    return *std::move(found);
}

result<schemas::workspace> workspace_named(const state_view& state, std::string_view name) {
    const auto id = tables::workspaces::named(state, name);
    if (!id) return no_such("workspace " + quoted(name));
    return workspace_of(state, *id);
}

result<schemas::workspace> administered_workspace(const state_view& state, schemas::user_id user,
                                                  std::string_view name) {
    auto found = workspace_named(state, name);
    if (!found || !is_visible(state, user, *found)) return no_such("workspace " + quoted(name));
    if (is_workspace_admin(state, user, *found)) return found;
    return runtime::permission_denied({"this needs an admin of the workspace ", quoted(name),
                                       ": a member of Admins or of a group with Super User there"});
}

result<placed<schemas::registered_model>> readable_model(const state_view& state, schemas::user_id user,
                                                         schemas::model_id id) {
    const std::string what = "registered model " + std::to_string(id.value);
    auto model = tables::models::find(state, id);
    if (!model) return no_such(what);
    auto workspace = workspace_of(state, model->workspace_id);
    if (const auto may =
            require(state, user, workspace, protected_type::registered_model, action::read, what);
        !may)
        return may.error();
    return placed<schemas::registered_model>{*std::move(model), std::move(workspace)};
}

result<placed<schemas::registered_model>> readable_model(const state_view& state, schemas::user_id user,
                                                         std::string_view workspace_name,
                                                         std::string_view model_name) {
    // Workspaces may be named after users' e-mails: a caller who may not read one does not learn that it
    // exists.
    const error missing =
        no_such("registered model " + quoted(model_name) + " in the workspace " + quoted(workspace_name));
    const auto workspace = workspace_named(state, workspace_name);
    if (!workspace) return missing;
    const auto id = tables::models::named(state, workspace->id, model_name);
    if (!id) return missing;
    auto found = readable_model(state, user, *id);
    if (!found) return missing;
    return found;
}

bool is_there(const state_view& state, const schemas::model_version& version) {
    return !tables::deleted_models::has(state, version.registered_model_id);
}

result<placed<schemas::model_version>> readable_version(const state_view& state, schemas::user_id user,
                                                        schemas::version_id id) {
    const std::string what = "model version " + std::to_string(id.value);
    auto version = tables::versions::find(state, id);
    if (!version || !is_there(state, *version)) return no_such(what);
    auto workspace = workspace_of(state, version->workspace_id);
    if (const auto may =
            require(state, user, workspace, protected_type::registered_model, action::read, what);
        !may)
        return may.error();
    return placed<schemas::model_version>{*std::move(version), std::move(workspace)};
}

result<placed<schemas::model_version>> readable_version(const state_view& state, schemas::user_id user,
                                                        schemas::model_id model, schemas::version_id id) {
    auto found = readable_version(state, user, id);
    if (found && found->row.registered_model_id != model)
        return runtime::not_found(
            {"model version ", id.value, " not found in registered model ", model.value});
    return found;
}

result<placed<schemas::model_version>> readable_version(const state_view& state, schemas::user_id user,
                                                        const schemas::registered_model& model,
                                                        std::string_view id_or_name) {
    if (const auto number = runtime::parse_plain_decimal(id_or_name)) {
        auto found = readable_version(state, user, schemas::version_id{*number});
        if (found && found->row.registered_model_id == model.id) return found;
    }
    const auto id = tables::versions::named(state, model.id, id_or_name);
    if (!id)
        return runtime::not_found(
            {"version ", quoted(id_or_name), " not found in registered model ", quoted(model.name)});
    return readable_version(state, user, *id);
}

bool may_read_builds(const state_view& state, schemas::user_id user, const schemas::workspace& workspace) {
    const access_rights rights = rights_of(state, user, workspace);
    return rights.allow(protected_type::endpoint, action::read) ||
           rights.allow(protected_type::registered_model, action::read);
}

result<placed<schemas::build>> readable_build(const state_view& state, schemas::user_id user,
                                              schemas::build_id id) {
    const std::string what = "build " + std::to_string(id.value);
    auto build = tables::builds::find(state, id);
    if (!build) return no_such(what);
    const auto version = tables::versions::find(state, build->model_version_id);
    if (!version || !is_there(state, *version)) return no_such(what);
    auto workspace = workspace_of(state, build->workspace_id);
    if (!may_read_builds(state, user, workspace)) return no_such(what);
    return placed<schemas::build>{*std::move(build), std::move(workspace)};
}

result<placed<schemas::build>> readable_build(const state_view& state, schemas::user_id user,
                                              std::string_view workspace_name, schemas::build_id id) {
    auto found = readable_build(state, user, id);
    if (found && found->workspace.name != workspace_name) return no_such_build(id, workspace_name);
    return found;
}

result<schemas::workspace> workspace_in_path(const state_view& state, std::string_view name_or_id) {
    auto named = workspace_named(state, name_or_id);
    if (named) return named;
    const auto id = runtime::parse_plain_decimal(name_or_id);
    auto found = id ? find_workspace(state, schemas::workspace_id{*id}) : std::nullopt;
    if (found) return *std::move(found);
    return named;
}

result<placed<schemas::build>> readable_build_in_path(const state_view& state, schemas::user_id user,
                                                      std::string_view workspace_name_or_id,
                                                      schemas::build_id id) {
    auto found = readable_build(state, user, id);
    if (!found) return found;
    const auto meant = workspace_in_path(state, workspace_name_or_id);
    if (!meant || meant->id != found->workspace.id) return no_such_build(id, workspace_name_or_id);
    return found;
}

result<void> require_building(const state_view& state, schemas::user_id user,
                              const schemas::workspace& workspace) {
    if (is_allowed(state, user, workspace, protected_type::endpoint, action::deploy) ||
        is_allowed(state, user, workspace, protected_type::endpoint, action::create))
        return {};
    return runtime::permission_denied(
        {"builds and their scans need the permission CREATE or DEPLOY on ENDPOINT in the workspace \"",
         workspace.name, "\""});
}

}  // namespace herald::storage::registry::access
