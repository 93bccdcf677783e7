// Users and their groups (wire.md §2).
#include <algorithm>

#include "runtime/crypto.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/tables/groups.hpp"
#include "storage/registry/tables/users.hpp"
#include "storage/registry/tables/workspaces.hpp"

namespace herald::storage::registry::rules {
namespace {

using context::rule_context;
using state::state_changes;

schemas::group_id group_named(const state::state_view& state, schemas::organization_id org,
                              std::string_view name) {
    schemas::group_id found;
    tables::groups::each(state, [&](const schemas::group& group) {
        if (group.org_id == org && group.name == name) found = group.id;
        return !found;
    });
    return found;
}

}  // namespace

/// Errors: permission_denied; invalid_argument; already_exists for the e-mail, for a username that is
/// somebody's e-mail, or for a workspace of the user's name.
answer apply(rule_context& context, const schemas::commands::create_user& command) {
    state_changes& state = context.state;
    if (const auto may = access::require_system_admin(state, context.principal(), "creating a user"); !may)
        return may.error();
    if (const auto good = check_email("email", command.email); !good) return good.error();
    const std::string username = command.username.empty() ? command.email : command.username;
    if (const auto good = check_name("username", username, limits::name_bytes_max); !good)
        return good.error();
    if (const auto good = check_text("full_name", command.full_name, limits::name_bytes_max); !good)
        return good.error();
    if (command.key_hash.size() != std::tuple_size_v<runtime::sha256_digest>)
        return runtime::invalid_argument("the developer key's hash must be 32 bytes");
    if (command.user_uuid == schemas::uuid{}) return runtime::invalid_argument("user_uuid is missing");
    if (tables::users::with_email(state, command.email))
        return runtime::already_exists("a user with the e-mail \"" + command.email + "\" already exists");
    if (tables::users::with_email(state, username))
        return runtime::already_exists("a user with the e-mail \"" + username +
                                       "\" already exists, so nobody else can have it as username");
    if (tables::workspaces::named(state, username))
        return runtime::already_exists("a workspace named \"" + username +
                                       "\", as this user's would be, already exists");

    schemas::user user;
    user.id = context.next_id<schemas::user_id>("user");
    user.email = command.email;
    user.username = username;
    user.full_name = command.full_name;
    user.primary_key_hash = command.key_hash;
    user.service_account = command.service_account;
    user.user_uuid = command.user_uuid;
    user.time_created = context.stamp_ms();

    schemas::workspace own;  // nobody else could approve in it, so its policies require nothing
    own.id = context.next_id<schemas::workspace_id>("workspace");
    own.name = username;
    own.owner = user.id;
    own.time_created = own.time_updated = context.stamp_ms();
    tables::workspaces::put(state, own);

    user.default_workspace_id = own.id;
    tables::users::put(state, user);
    // The first organisation includes everybody until other organisations exist.
    const schemas::organization_id first{1};
    tables::members::put(state, group_named(state, first, "All Users"), user.id);
    context.minted_with = command.key_name;
    return schemas::encode(user);
}

/// Errors: not_found for the group or a user; permission_denied; invalid_argument.
answer apply(rule_context& context, const schemas::commands::add_group_users& command) {
    state_changes& state = context.state;
    const auto group = tables::groups::find(state, command.group_id);
    if (!group || group->org_id != command.org_id)
        return runtime::not_found("group " + std::to_string(command.group_id.value) +
                                  " not found in organization " + std::to_string(command.org_id.value));
    const bool org_admin =
        access::is_member(state, group_named(state, group->org_id, "Admins"), context.principal());
    if (!org_admin && !access::is_system_admin(state, context.principal()))
        return runtime::permission_denied(
            "adding users to a group needs a member of Admins or a system administrator");
    if (command.user_id.size() > limits::users_per_request_max)
        return runtime::invalid_argument("user_id holds " + std::to_string(command.user_id.size()) +
                                         " users; at most " + std::to_string(limits::users_per_request_max) +
                                         " at once");
    for (const schemas::user_id user : command.user_id) {
        if (!tables::users::has(state, user))
            return runtime::not_found("user " + std::to_string(user.value) + " not found");
        tables::members::put(state, group->id, user);
    }
    return schemas::encode(*group);
}

runner runner_of(schemas::commands::command_type type, schemas::commands::identity_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
