// Roles: what their holders may do (wire.md §2).
#include <algorithm>

#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/directory.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/rules/organizations.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/tables/groups.hpp"
#include "storage/registry/tables/workspaces.hpp"

namespace herald::storage::registry::rules {
namespace {

using schemas::resource_actions;

/// Each type once, each action once, both in the order of their numbers. Errors: invalid_argument for an
/// unknown type or action.
result<std::vector<resource_actions>> in_order(const std::vector<resource_actions>& sent) {
    std::vector<resource_actions> all;
    for (const resource_actions& each : sent) {
        if (each.resource_type == schemas::protected_type::none)
            return runtime::invalid_argument(
                "resource_actions.resource_type is RESOURCE_TYPE_UNKNOWN; it must be a type of resources");
        const auto place =
            std::ranges::lower_bound(all, each.resource_type, {}, &resource_actions::resource_type);
        const bool is_new = place == all.end() || place->resource_type != each.resource_type;
        resource_actions& entry = is_new ? *all.insert(place, {each.resource_type, {}}) : *place;
        for (const schemas::action allowed : each.allowed_actions) {
            if (allowed == schemas::action::none)
                return runtime::invalid_argument(
                    "resource_actions.allowed_actions holds ACTION_TYPE_UNKNOWN; it must hold actions");
            const auto at = std::ranges::lower_bound(entry.allowed_actions, allowed);
            if (at == entry.allowed_actions.end() || *at != allowed)
                entry.allowed_actions.insert(at, allowed);
        }
    }
    return all;
}

/// Errors: not_found; permission_denied; failed_precondition for a built-in one.
result<schemas::role> role_to_change(rule_context& context, schemas::organization_id org, schemas::role_id id,
                                     std::string_view what) {
    auto role = record_to_change<tables::roles>(context, org, "role", id, what);
    if (role && role->built_in)
        return runtime::failed_precondition(
            {"the role \"", role->name, "\" is built in; it cannot be changed or deleted"});
    return role;
}

/// What the command says, in the place of `role`. Errors: invalid_argument; already_exists for the name;
/// failed_precondition at limits::roles_per_organization_max.
result<schemas::role> described_by(rule_context& context, const schemas::commands::set_role& command,
                                   schemas::role role) {
    if (const auto good = check_name("name", command.name, limits::name_bytes_max); !good)
        return good.error();
    if (const auto good = check_text("description", command.description, limits::description_bytes_max);
        !good)
        return good.error();
    auto actions = in_order(command.actions);
    if (!actions) return actions.error();
    const auto all = find::roles_of(context.state, command.org_id);
    const auto same = std::ranges::find(all, command.name, &schemas::role::name);
    if (same != all.end() && same->id != command.id)
        return runtime::already_exists(
            {"a role named \"", command.name, "\" already exists in organization ", command.org_id.value});
    if (!command.id && all.size() >= limits::roles_per_organization_max)
        return runtime::failed_precondition({"organization ", command.org_id.value, " has ",
                                             limits::roles_per_organization_max,
                                             " roles, the most there may be; delete one first"});
    role.org_id = command.org_id;
    role.name = command.name;
    role.description = command.description;
    role.actions = *std::move(actions);
    role.reports_scans = command.reports_scans;
    return role;
}

}  // namespace

/// Errors: not_found; permission_denied; failed_precondition; invalid_argument; already_exists.
answer apply(rule_context& context, const schemas::commands::set_role& command) {
    state_changes& state = context.state;
    if (command.id) {
        const auto before = role_to_change(context, command.org_id, command.id, "changing a role");
        if (!before) return before.error();
        const auto after = described_by(context, command, *before);
        if (!after) return after.error();
        tables::roles::update(state, *before, *after);
        return schemas::encode(*after);
    }
    if (const auto may = organization_to_change(context, command.org_id, "creating a role"); !may)
        return may.error();
    auto made = described_by(context, command, {});
    if (!made) return made.error();
    made->id = context.next_id<schemas::role_id>("role");
    made->time_created = context.stamp_ms();
    tables::roles::put(state, *made);
    return schemas::encode(*made);
}

/// Errors: not_found; permission_denied; failed_precondition for a built-in one, and for one that a workspace
/// uses.
answer apply(rule_context& context, const schemas::commands::delete_role& command) {
    const auto role = role_to_change(context, command.org_id, command.id, "deleting a role");
    if (!role) return role.error();
    if (const auto user = tables::workspaces::using_role(context.state, role->id))
        return runtime::failed_precondition({"the role \"", role->name, "\" is used by the workspace \"",
                                             access::workspace_of(context.state, *user).name,
                                             "\"; take it out of the permissions there first"});
    tables::roles::erase(context.state, *role);
    return std::string();
}

runner runner_of(schemas::commands::command_type type, schemas::commands::role_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
