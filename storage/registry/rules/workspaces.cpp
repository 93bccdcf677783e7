// Workspaces of organisations (wire.md §2). Own workspaces come and go with their users: users.cpp.
#include <algorithm>

#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/directory.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/rules/organizations.hpp"
#include "storage/registry/rules/removal.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/rules/stage_components.hpp"
#include "storage/registry/tables/endpoints.hpp"
#include "storage/registry/tables/groups.hpp"
#include "storage/registry/tables/installation.hpp"
#include "storage/registry/tables/lists.hpp"
#include "storage/registry/tables/models.hpp"
#include "storage/registry/tables/webhooks.hpp"
#include "storage/registry/tables/workspaces.hpp"

namespace herald::storage::registry::rules {
namespace {

std::string sweep_key(schemas::workspace_id workspace, const builds_to_remove& next) {
    return schemas::big_endian(workspace.value) + schemas::big_endian(next.before.value) +
           schemas::big_endian(next.scan.value);
}

/// Errors: not_found; permission_denied.
result<schemas::workspace> workspace_to_change(rule_context& context, schemas::organization_id org,
                                               schemas::workspace_id id, std::string_view what) {
    return record_to_change<tables::workspaces>(context, org, "workspace", id, what);
}

/// Errors: not_found for a group or a role that the organisation does not have.
result<void> check_permission(const state_view& state, schemas::organization_id org,
                              const schemas::permission& one, const std::string& path) {
    const auto group = tables::groups::find(state, one.group_id);
    if (!group || group->org_id != org)
        return runtime::not_found(
            {path, "group_id: group ", one.group_id.value, " not found in organization ", org.value});
    const auto role = tables::roles::find(state, one.role_id);
    if (!role || role->org_id != org)
        return runtime::not_found(
            {path, "role_id: role ", one.role_id.value, " not found in organization ", org.value});
    return {};
}

/// Errors: invalid_argument.
result<void> check_count(std::size_t permissions) {
    if (permissions <= limits::permissions_max) return {};
    return runtime::invalid_argument(
        {"permissions holds ", permissions, " entries; at most ", limits::permissions_max, " are allowed"});
}

/// Each pair once, in the order sent. Errors: those of check_permission and check_count.
result<std::vector<schemas::permission>> checked(const state_view& state,
                                                 const schemas::commands::set_workspace& command) {
    for (const schemas::permission& each : command.permissions)
        if (const auto good = check_permission(state, command.org_id, each, "permissions."); !good)
            return good.error();
    if (const auto good = check_count(command.permissions.size()); !good) return good.error();
    std::vector<schemas::permission> all;
    for (const schemas::permission& each : command.permissions)
        if (std::ranges::find(all, each) == all.end()) all.push_back(each);
    return all;
}

/// What the command says, in the place of `workspace`. Errors: not_found; invalid_argument; already_exists.
result<schemas::workspace> described_by(rule_context& context,
                                        const schemas::commands::set_workspace& command,
                                        schemas::workspace workspace) {
    auto permissions = checked(context.state, command);
    if (!permissions) return permissions.error();
    if (const auto good = check_name("name", command.name, limits::name_bytes_max); !good)
        return good.error();
    if (const auto good = check_text("description", command.description, limits::description_bytes_max);
        !good)
        return good.error();
    if (const auto good = check_optional_name("namespace", command.name_space, limits::name_bytes_max); !good)
        return good.error();
    const auto same = tables::workspaces::named(context.state, command.name);
    if (same && *same != command.id)
        return runtime::already_exists({"a workspace named \"", command.name, "\" already exists"});
    workspace.name = command.name;
    workspace.description = command.description;
    workspace.name_space = command.name_space;
    workspace.permissions = *std::move(permissions);
    workspace.time_updated = context.stamp_ms();
    return workspace;
}

}  // namespace

result<void> check_is_empty(const state_view& state, const schemas::workspace& workspace) {
    bool has_models = false, has_endpoints = false, has_webhooks = false;
    tables::models::each_of(state, workspace.id, {}, [&](schemas::model_id) {
        has_models = true;
        return false;
    });
    tables::endpoints::each_of(state, workspace.id, std::nullopt, [&](const schemas::uuid&) {
        has_endpoints = true;
        return false;
    });
    tables::webhooks::each_of(state, workspace.id, {}, [&](schemas::webhook_id) {
        has_webhooks = true;
        return false;
    });
    std::string held;
    const auto add = [&](bool has, std::string_view what, std::string_view before) {
        if (has) held += (held.empty() ? "" : std::string(before)) + std::string(what);
    };
    add(has_models, "registered models", "");
    add(has_endpoints, "endpoints", has_webhooks ? ", " : " and ");
    add(has_webhooks, "webhooks", " and ");
    if (held.empty()) return check_is_not_deployed(state, workspace);
    return runtime::failed_precondition(
        {"the workspace \"", workspace.name, "\" holds ", held, "; delete them first"});
}

void erase_workspace(rule_context& context, const schemas::workspace& workspace) {
    schemas::workspace gone = workspace;
    gone.removed = true;
    gone.permissions.clear();
    tables::workspaces::update(context.state, workspace, gone);
    context.set_timer(context.time_ms(), timer_kind::workspace_sweep, sweep_key(workspace.id, {}));
}

/// Errors: not_found; permission_denied; invalid_argument; already_exists for the name.
answer apply(rule_context& context, const schemas::commands::set_workspace& command) {
    state_changes& state = context.state;
    if (command.id) {
        const auto before = workspace_to_change(context, command.org_id, command.id, "changing a workspace");
        if (!before) return before.error();
        const auto after = described_by(context, command, *before);
        if (!after) return after.error();
        tables::workspaces::update(state, *before, *after);
        return schemas::encode(*after);
    }
    const auto org = organization_to_change(context, command.org_id, "creating a workspace");
    if (!org) return org.error();
    schemas::workspace fresh;
    fresh.org_id = org->id;
    fresh.admins = group_named(state, org->id, "Admins");
    fresh.policies.require_approval_for = tables::installation::find(state)->require_approval_for;
    auto made = described_by(context, command, fresh);
    if (!made) return made.error();
    made->id = context.next_id<schemas::workspace_id>("workspace");
    made->time_created = made->time_updated;
    tables::workspaces::put(state, *made);
    return schemas::encode(*made);
}

/// Errors: not_found, also for a permission to be removed that is not there; permission_denied;
/// invalid_argument for too many. What is there already is not added again.
answer apply(rule_context& context, const schemas::commands::change_permission& command) {
    const auto before =
        workspace_to_change(context, command.org_id, command.id, "changing a workspace's permissions");
    if (!before) return before.error();
    schemas::workspace after = *before;
    const auto place = std::ranges::find(after.permissions, command.permission);
    const bool is_there = place != after.permissions.end();
    if (!command.removes) {
        if (const auto good = check_permission(context.state, command.org_id, command.permission, ""); !good)
            return good.error();
        if (is_there) return schemas::encode(*before);
        after.permissions.push_back(command.permission);
        if (const auto good = check_count(after.permissions.size()); !good) return good.error();
    } else {
        if (!is_there)
            return runtime::not_found({"the workspace \"", before->name, "\" does not give group ",
                                       command.permission.group_id.value, " the role ",
                                       command.permission.role_id.value});
        after.permissions.erase(place);
    }
    after.time_updated = context.stamp_ms();
    tables::workspaces::update(context.state, *before, after);
    return schemas::encode(after);
}

/// Errors: not_found; permission_denied; failed_precondition for a built-in one, and for one that holds
/// models, endpoints or webhooks.
answer apply(rule_context& context, const schemas::commands::delete_workspace& command) {
    const auto workspace = workspace_to_change(context, command.org_id, command.id, "deleting a workspace");
    if (!workspace) return workspace.error();
    if (workspace->built_in)
        return runtime::failed_precondition(
            {"the workspace \"", workspace->name, "\" is its organization's own; it cannot be deleted"});
    if (const auto good = check_is_empty(context.state, *workspace); !good) return good.error();
    erase_workspace(context, *workspace);
    return std::string();
}

/// Builds of a workspace that was deleted; at the end the workspace itself.
void fire_workspace_sweep(rule_context& context, std::string_view key) {
    const schemas::workspace_id id{schemas::read_big_endian(key)};
    builds_to_remove next{schemas::build_id{schemas::read_big_endian(key.substr(8))},
                          schemas::scan_id{schemas::read_big_endian(key.substr(16))}};
    if (!remove_builds(context, id, next))
        return context.set_timer(context.time_ms(), timer_kind::workspace_sweep, sweep_key(id, next));
    if (const auto workspace = tables::workspaces::find(context.state, id))
        tables::workspaces::erase(context.state, *workspace);
}

runner runner_of(schemas::commands::command_type type, schemas::commands::workspace_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
