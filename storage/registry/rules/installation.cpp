// GENESIS, and what an operator sets for the whole installation.
#include "storage/registry/tables/installation.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/tables/feature_flags.hpp"
#include "storage/registry/tables/groups.hpp"
#include "storage/registry/tables/users.hpp"
#include "storage/registry/tables/workspaces.hpp"

namespace herald::storage::registry::rules {
namespace {

using context::rule_context;
using schemas::action;
using schemas::protected_type;

constexpr std::int64_t day_ms = 24ll * 3'600'000;

schemas::role built_in_role(rule_context& context, schemas::organization_id org, std::string name,
                            const std::vector<action>& actions) {
    schemas::role role;
    role.id = context.next_id<schemas::role_id>("role");
    role.org_id = org;
    role.name = std::move(name);
    role.built_in = true;
    role.time_created = context.stamp_ms();
    for (const protected_type type :
         {protected_type::dataset, protected_type::project, protected_type::registered_model,
          protected_type::endpoint, protected_type::monitored_entity, protected_type::notification_channel})
        role.actions.push_back({type, actions});
    tables::roles::put(context.state, role);
    return role;
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

}  // namespace

/// Errors: failed_precondition for a second GENESIS; invalid_argument for one without event partitions or
/// without the administrator's UUID.
answer apply(rule_context& context, const schemas::commands::genesis& command) {
    state::state_changes& state = context.state;
    if (tables::installation::has(state))
        return runtime::failed_precondition("this log has its GENESIS already");
    if (command.event_partitions == 0)
        return runtime::invalid_argument("event_partitions is 0; events need 1 or more");
    if (command.admin_uuid == schemas::uuid{}) return runtime::invalid_argument("admin_uuid is missing");
    tables::installation::put(state, command);
    if (command.level > schemas::commands::first_level) tables::put_level(state, command.level);

    schemas::organization org;
    org.id = context.next_id<schemas::organization_id>("organization");
    org.name = command.organization_name;
    org.time_created = context.stamp_ms();
    tables::organizations::put(state, org);
    const schemas::group admins = built_in_group(context, org.id, "Admins");
    const schemas::group all_users = built_in_group(context, org.id, "All Users");
    const std::vector<action> everything{action::read,    action::update,         action::create,
                                         action::delete_, action::approve_reject, action::register_,
                                         action::deploy,  action::predict};
    built_in_role(context, org.id, "Super User", everything);
    built_in_role(context, org.id, "Read/Write", everything);
    built_in_role(context, org.id, "Read Only", {action::read});

    schemas::workspace workspace;
    workspace.id = context.next_id<schemas::workspace_id>("workspace");
    workspace.name = command.organization_name;
    workspace.org_id = org.id;
    workspace.admins = admins.id;
    workspace.built_in = true;
    workspace.time_created = workspace.time_updated = context.stamp_ms();
    workspace.policies.require_approval_for = command.require_approval_for;
    tables::workspaces::put(state, workspace);

    schemas::user admin;
    admin.id = context.next_id<schemas::user_id>("user");
    admin.email = admin.username = command.admin_email;
    admin.primary_key_hash = command.admin_key_hash;
    admin.user_uuid = command.admin_uuid;
    admin.system_admin = true;
    admin.default_workspace_id = workspace.id;
    admin.time_created = context.stamp_ms();
    tables::users::put(state, admin);
    tables::members::put(state, admins.id, admin.id);
    tables::members::put(state, all_users.id, admin.id);
    context.set_timer(context.time_ms() + day_ms, context::timer_kind::outbox_trim, "");
    return std::string();
}

/// Errors: not_found when no system administrator has that e-mail.
answer apply(rule_context& context, const schemas::commands::renew_admin_key& command) {
    const auto id = tables::users::with_email(context.state, command.email);
    auto user = id ? tables::users::find(context.state, *id) : std::nullopt;
    if (!user || !user->system_admin)
        return runtime::not_found("no system administrator has the e-mail \"" + command.email + "\"");
    user->primary_key_hash = command.key_hash;
    user->secondary_key_hash.clear();
    tables::users::put(context.state, *user);
    return schemas::encode(*user);
}

/// Errors: permission_denied; not_found for a flag that Herald does not have.
answer apply(rule_context& context, const schemas::commands::set_feature_flag& command) {
    if (const auto may =
            access::require_system_admin(context.state, context.principal(), "setting a feature flag");
        !may)
        return may.error();
    if (!schemas::from_name<flag_name>(command.name)) {
        std::string all;
        for (const auto& [flag, name] : schemas::enum_names<flag_name>::all)
            all += (all.empty() ? "" : ", ") + std::string(name);
        return runtime::not_found("there is no feature flag \"" + command.name + "\"; there are " + all);
    }
    if (const auto good = check_text("content", command.content, limits::flag_content_bytes_max); !good)
        return good.error();
    const schemas::feature_flag flag{command.name, command.enabled, command.content};
    tables::feature_flags::put(context.state, flag);
    return schemas::encode(flag);
}

runner runner_of(schemas::commands::command_type type, schemas::commands::installation_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
