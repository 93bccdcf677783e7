// Service accounts: users without a person, whom an organisation's administrators look after (wire.md §2).
#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/directory.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/organizations.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/tables/users.hpp"

namespace herald::storage::registry::rules {
namespace {

/// Errors: not_found for one that is not there, or whose organisation the sender does not belong to;
/// permission_denied, also for one that is a system administrator unless the sender is one too.
result<schemas::user> account_to_change(rule_context& context, schemas::user_id id,
                                        schemas::organization_id org, std::string_view what) {
    auto account = tables::users::find(context.state, id);
    const error missing = runtime::not_found({"service account ", id.value, " not found"});
    if (!account || account->removed || !account->service_account) return missing;
    const schemas::organization_id owner = account->org_id ? account->org_id : first_organization;
    if (org && org != owner) return missing;
    const auto may = organization_to_change(context, owner, what);
    if (!may) return may.error().code == error_code::not_found ? missing : may.error();
    if (account->system_admin)
        if (const auto is_one = access::require_system_admin(
                context.state, context.principal(), std::string(what) + " that is a system administrator");
            !is_one)
            return is_one.error();
    return *std::move(account);
}

/// Where the sender names none: the first one, but for who looks after another one only.
schemas::organization_id organization_meant(const rule_context& context) {
    if (administers(context.state, context.principal(), first_organization)) return first_organization;
    const auto own = find::organizations_with(context.state, context.principal());
    return own.size() == 1 ? *own.begin() : first_organization;
}

/// An organisation's workspace that the sender sees. Errors: not_found.
result<schemas::workspace> associated_workspace(const rule_context& context, schemas::workspace_id id) {
    auto found = access::find_workspace(context.state, id);
    if (found && found->org_id && access::is_visible(context.state, context.principal(), *found))
        return *std::move(found);
    return runtime::not_found(
        {"associated_workspace_id: workspace ", id.value, " not found among those of organizations"});
}

}  // namespace

/// Errors: not_found for the organisation or the workspace; permission_denied; invalid_argument;
/// already_exists for the e-mail or the username, or for a workspace of that name.
answer apply(rule_context& context, const schemas::commands::create_service_account& command) {
    fresh_user fresh;
    fresh.org = command.org_id ? command.org_id : organization_meant(context);
    if (command.associated_workspace_id) {
        const auto workspace = associated_workspace(context, command.associated_workspace_id);
        if (!workspace) return workspace.error();
        if (!command.org_id) fresh.org = workspace->org_id;
        fresh.associated_workspace_id = workspace->id;
    }
    const auto org = organization_to_change(context, fresh.org, "creating a service account");
    if (!org) return org.error();
    if (const auto good = check_text("description", command.description, limits::description_bytes_max);
        !good)
        return good.error();
    fresh.email = command.email;
    fresh.username = command.username;
    fresh.description = command.description;
    fresh.key_hash = command.key_hash;
    fresh.service_account = true;
    fresh.user_uuid = command.user_uuid;
    const auto made = add_user(context, fresh);
    if (!made) return made.error();
    context.minted_with = command.key_name;
    return schemas::encode(*made);
}

/// Errors: not_found; permission_denied; invalid_argument; already_exists.
answer apply(rule_context& context, const schemas::commands::update_service_account& command) {
    const auto before = account_to_change(context, command.id, {}, "changing a service account");
    if (!before) return before.error();
    schemas::user after = *before;
    if (command.associated_workspace_id) {
        const auto workspace = associated_workspace(context, command.associated_workspace_id);
        if (!workspace) return workspace.error();
        after.associated_workspace_id = after.default_workspace_id = workspace->id;
    }
    if (!command.description.empty()) after.description = command.description;
    if (!command.username.empty()) after.username = command.username;
    if (const auto good = check_text("description", after.description, limits::description_bytes_max); !good)
        return good.error();
    if (const auto good = check_name("username", after.username, limits::name_bytes_max); !good)
        return good.error();
    if (after.username != before->username)
        if (const auto good = check_names_are_free(context, after.email, after.username, after.id); !good)
            return good.error();
    rename_user(context, *before, after);
    return schemas::encode(after);
}

/// Errors: not_found; permission_denied; those of end_user.
answer apply(rule_context& context, const schemas::commands::delete_service_account& command) {
    const auto account = account_to_change(context, command.id, command.org_id, "deleting a service account");
    if (!account) return account.error();
    if (const auto ended = end_user(context, *account); !ended) return ended.error();
    return std::string();
}

runner runner_of(schemas::commands::command_type type, schemas::commands::service_account_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
