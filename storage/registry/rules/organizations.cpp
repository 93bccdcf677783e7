// Organisations and who belongs to them (wire.md §2).
#include "storage/registry/rules/organizations.hpp"

#include <algorithm>

#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/directory.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/tables/groups.hpp"
#include "storage/registry/tables/installation.hpp"
#include "storage/registry/tables/users.hpp"
#include "storage/registry/tables/workspaces.hpp"

namespace herald::storage::registry::rules {
namespace {

schemas::role built_in_role(rule_context& context, schemas::organization_id org, std::string name,
                            const std::vector<schemas::resource_actions>& actions,
                            bool reports_scans = false) {
    schemas::role role;
    role.id = context.next_id<schemas::role_id>("role");
    role.org_id = org;
    role.name = std::move(name);
    role.built_in = true;
    role.actions = actions;
    role.reports_scans = reports_scans;
    role.time_created = context.stamp_ms();
    tables::roles::put(context.state, role);
    return role;
}

std::vector<schemas::resource_actions> on_everything(const std::vector<action>& actions) {
    std::vector<schemas::resource_actions> all;
    for (const protected_type type :
         {protected_type::dataset, protected_type::project, protected_type::registered_model,
          protected_type::endpoint, protected_type::monitored_entity, protected_type::notification_channel})
        all.push_back({type, actions});
    return all;
}

schemas::group built_in_group(rule_context& context, schemas::organization_id org, std::string name) {
    schemas::group group;
    group.id = context.next_id<schemas::group_id>("group");
    group.org_id = org;
    group.name = std::move(name);
    group.built_in = true;
    group.time_created = context.stamp_ms();
    tables::groups::put(context.state, group);
    return group;
}

std::optional<schemas::organization> organization_named(const state_view& state, std::string_view name) {
    std::optional<schemas::organization> found;
    tables::organizations::each(state, [&](const schemas::organization& each) {
        if (each.name == name) found = each;
        return !found;
    });
    return found;
}

std::string text_of(schemas::organization_id id) { return "organization " + std::to_string(id.value); }

/// Errors: not_found; invalid_argument; already_exists.
answer rename_organization(rule_context& context, const schemas::commands::set_organization& command) {
    const auto before = tables::organizations::find(context.state, command.id);
    if (!before) return runtime::not_found({text_of(command.id), " not found"});
    if (const auto good = check_name("name", command.name, limits::name_bytes_max); !good)
        return good.error();
    const auto same = organization_named(context.state, command.name);
    if (same && same->id != before->id)
        return runtime::already_exists({"an organization named \"", command.name, "\" already exists"});
    schemas::organization after = *before;
    after.name = command.name;
    tables::organizations::update(context.state, *before, after);
    return schemas::encode(after);
}

/// What the organisation has beside what is built in: "2 groups". Empty: nothing.
std::string added_to(const state_view& state, schemas::organization_id org) {
    const auto own = [](const auto& row) { return !row.built_in; };
    const auto groups = std::ranges::count_if(find::groups_of(state, org), own);
    const auto roles = std::ranges::count_if(find::roles_of(state, org), own);
    const auto workspaces = std::ranges::count_if(find::workspaces_of(state, org), own);
    std::ptrdiff_t accounts = 0;
    tables::users::each(state, [&](const schemas::user& row) {
        if (row.service_account && !row.removed && row.org_id == org) ++accounts;
        return true;
    });
    std::string all;
    for (const auto& [count, what] :
         {std::pair{groups, "group"}, std::pair{roles, "role"}, std::pair{workspaces, "workspace"},
          std::pair{accounts, "service account"}})
        if (count > 0)
            all += (all.empty() ? "" : ", ") + std::to_string(count) + " " + what + (count > 1 ? "s" : "");
    return all;
}

}  // namespace

error first_administrator_stays() {
    return runtime::failed_precondition(
        "user 1 is the first system administrator, who always is in Admins of organization 1");
}

founded_organization found_organization(rule_context& context, const std::string& name,
                                        const std::vector<schemas::stage>& require_approval_for) {
    founded_organization made;
    schemas::organization& org = made.organization;
    org.id = context.next_id<schemas::organization_id>("organization");
    org.name = name;
    org.time_created = context.stamp_ms();
    tables::organizations::put(context.state, org);
    made.admins = built_in_group(context, org.id, "Admins");
    made.all_users = built_in_group(context, org.id, "All Users");
    const auto everything =
        on_everything({action::read, action::update, action::create, action::delete_, action::approve_reject,
                       action::register_, action::deploy, action::predict});
    built_in_role(context, org.id, "Super User", everything);
    built_in_role(context, org.id, "Read/Write", everything);
    built_in_role(context, org.id, "Read Only", on_everything({action::read}));
    built_in_role(context, org.id, "Approver",
                  {{protected_type::registered_model, {action::read, action::approve_reject}}});
    // READ on models is also that on their builds.
    built_in_role(context, org.id, "Scanner", {{protected_type::registered_model, {action::read}}}, true);

    schemas::workspace& workspace = made.workspace;
    workspace.id = context.next_id<schemas::workspace_id>("workspace");
    workspace.name = name;
    workspace.org_id = org.id;
    workspace.admins = made.admins.id;
    workspace.built_in = true;
    workspace.time_created = workspace.time_updated = context.stamp_ms();
    workspace.policies.require_approval_for = require_approval_for;
    tables::workspaces::put(context.state, workspace);
    return made;
}

schemas::group_id group_named(const state_view& state, schemas::organization_id org, std::string_view name) {
    schemas::group_id found;
    tables::groups::each(state, [&](const schemas::group& group) {
        if (group.org_id == org && group.name == name) found = group.id;
        return !found;
    });
    return found;
}

bool administers(const state_view& state, schemas::user_id user, schemas::organization_id org) {
    return access::is_system_admin(state, user) ||
           access::is_member(state, group_named(state, org, "Admins"), user);
}

result<schemas::organization> organization_to_change(rule_context& context, schemas::organization_id id,
                                                     std::string_view what) {
    auto found = find::organization_of(context.state, context.principal(), id);
    if (!found) return runtime::not_found({text_of(id), " not found"});
    if (!administers(context.state, context.principal(), id))
        return runtime::permission_denied({what, " needs a member of Admins or a system administrator"});
    return *std::move(found);
}

/// Errors: permission_denied; not_found; invalid_argument; already_exists for the name, or for a workspace of
/// that name.
answer apply(rule_context& context, const schemas::commands::set_organization& command) {
    state_changes& state = context.state;
    if (const auto may =
            access::require_system_admin(state, context.principal(), "creating or changing an organization");
        !may)
        return may.error();
    if (command.id) return rename_organization(context, command);
    if (const auto good = check_name("name", command.name, limits::name_bytes_max); !good)
        return good.error();
    if (organization_named(state, command.name))
        return runtime::already_exists({"an organization named \"", command.name, "\" already exists"});
    if (tables::workspaces::named(state, command.name))
        return runtime::already_exists(
            {"a workspace named \"", command.name, "\", as this organization's would be, already exists"});
    const auto installation = tables::installation::find(state);
    const founded_organization made =
        found_organization(context, command.name, installation->require_approval_for);
    tables::members::put(state, made.admins.id, context.principal());
    tables::members::put(state, made.all_users.id, context.principal());
    return schemas::encode(made.organization);
}

/// Errors: permission_denied; not_found; failed_precondition for the first one, and while it has anything
/// that is not built in.
answer apply(rule_context& context, const schemas::commands::delete_organization& command) {
    state_changes& state = context.state;
    if (const auto may = access::require_system_admin(state, context.principal(), "deleting an organization");
        !may)
        return may.error();
    const auto org = tables::organizations::find(state, command.id);
    if (!org) return runtime::not_found({text_of(command.id), " not found"});
    if (command.id == first_organization)
        return runtime::failed_precondition(
            "organization 1 is the first one, which every new user joins; it cannot be deleted");
    if (const std::string has = added_to(state, org->id); !has.empty())
        return runtime::failed_precondition({text_of(org->id), " still has ", has, "; delete them first"});
    const auto workspaces = find::workspaces_of(state, org->id);
    for (const schemas::workspace& each : workspaces)
        if (const auto good = check_is_empty(state, each); !good) return good.error();
    for (const schemas::workspace& each : workspaces) erase_workspace(context, each);
    for (const schemas::role& each : find::roles_of(state, org->id)) tables::roles::erase(state, each);
    for (const schemas::group& each : find::groups_of(state, org->id)) erase_group(context, each);
    tables::organizations::erase(state, *org);
    return std::string();
}

/// Errors: not_found for the organisation or the e-mail; permission_denied.
answer apply(rule_context& context, const schemas::commands::add_organization_user& command) {
    state_changes& state = context.state;
    const auto org = organization_to_change(context, command.org_id, "adding a user to an organization");
    if (!org) return org.error();
    const auto user = find::user_with_email(state, command.email);
    if (!user)
        return runtime::not_found({"user with the e-mail \"", command.email,
                                   "\" not found; a system administrator can create one"});
    tables::members::put(state, group_named(state, org->id, "All Users"), user->id);
    return schemas::encode(*user);
}

/// Errors: not_found for the organisation or a user who is not in it; permission_denied; failed_precondition
/// for the first administrator.
answer apply(rule_context& context, const schemas::commands::remove_organization_user& command) {
    state_changes& state = context.state;
    const auto org = organization_to_change(context, command.org_id, "removing a user from an organization");
    if (!org) return org.error();
    std::vector<schemas::group_id> left;
    tables::members::each_group_of(state, command.user_id, [&](schemas::group_id id) {
        const auto group = tables::groups::find(state, id);
        if (group && group->org_id == org->id) left.push_back(id);
        return true;
    });
    if (left.empty())
        return runtime::not_found({"user ", command.user_id.value, " not found in ", text_of(org->id)});
    if (org->id == first_organization && command.user_id == first_administrator)
        return first_administrator_stays();
    for (const schemas::group_id each : left) tables::members::erase(state, each, command.user_id);
    return std::string();
}

runner runner_of(schemas::commands::command_type type, schemas::commands::organization_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
