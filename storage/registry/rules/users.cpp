// Users and their groups (wire.md §2).
#include "storage/registry/rules/users.hpp"

#include <algorithm>

#include "runtime/crypto.hpp"
#include "runtime/limits.hpp"
#include "runtime/text.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/rules.hpp"

namespace herald::storage::registry::rules {
namespace {

using context::rule_context;
using state::state_changes;
using tables::key_of;
using tables::put_number;
using tables::put_row;
using tables::table;

constexpr std::size_t users_per_request_max = 400;

schemas::group_id group_named(const state::state_view& state, schemas::organization_id org,
                              std::string_view name) {
    schemas::group_id found;
    state.scan(key_of(table::group), {}, [&](std::string_view key, std::string_view value) {
        const auto group = tables::decode_row<schemas::group>(key, value);
        if (group.org_id == org && group.name == name) found = group.id;
        return !found;
    });
    return found;
}

}  // namespace

void put_user(state_changes& state, const schemas::user& user) {
    put_row(state, key_of(table::user).number(user.id), user);
    put_number(state, key_of(table::user_by_email).text(runtime::to_lower(user.email)), user.id.value);
}

void put_workspace(state_changes& state, const schemas::workspace& workspace) {
    put_row(state, key_of(table::workspace).number(workspace.id), workspace);
    put_number(state, key_of(table::workspace_by_name).text(workspace.name), workspace.id.value);
}

void add_member(state_changes& state, schemas::group_id group, schemas::user_id user) {
    state.put(key_of(table::group_member).number(group).number(user), "");
    state.put(key_of(table::user_group).number(user).number(group), "");
}

/// Errors: permission_denied; invalid_argument; already_exists for the e-mail or for a workspace of the
/// user's name.
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
    if (state.get(key_of(table::user_by_email).text(runtime::to_lower(command.email))))
        return runtime::already_exists("a user with the e-mail \"" + command.email + "\" already exists");
    if (state.get(key_of(table::workspace_by_name).text(username)))
        return runtime::already_exists("a workspace named \"" + username +
                                       "\", as this user's would be, already exists");

    schemas::user user;
    user.id = context.next_id<schemas::user_id>("user");
    user.email = command.email;
    user.username = username;
    user.full_name = command.full_name;
    user.primary_key_hash = command.key_hash;
    user.service_account = command.service_account;
    user.time_created = context.stamp_ms();

    schemas::workspace own;  // nobody else could approve in it: its policies demand nothing
    own.id = context.next_id<schemas::workspace_id>("workspace");
    own.name = username;
    own.owner = user.id;
    own.time_created = own.time_updated = context.stamp_ms();
    put_workspace(state, own);

    user.default_workspace_id = own.id;
    put_user(state, user);
    // The first organisation is everybody's until organisations of their own are made.
    const schemas::organization_id first{1};
    add_member(state, group_named(state, first, "All Users"), user.id);
    context.minted_with = command.key_name;
    return schemas::encode(user);
}

/// Errors: not_found for the group or a user; permission_denied; invalid_argument.
answer apply(rule_context& context, const schemas::commands::add_group_users& command) {
    state_changes& state = context.state;
    const auto group = tables::find_row<schemas::group>(state, key_of(table::group).number(command.group_id));
    if (!group || group->org_id != command.org_id)
        return runtime::not_found("group " + std::to_string(command.group_id.value) +
                                  " not found in organization " + std::to_string(command.org_id.value));
    const bool org_admin =
        access::is_member(state, group_named(state, group->org_id, "Admins"), context.principal());
    if (!org_admin && !access::is_system_admin(state, context.principal()))
        return runtime::permission_denied(
            "adding users to a group needs a member of Admins or a system administrator");
    if (command.user_id.size() > users_per_request_max)
        return runtime::invalid_argument("user_id holds " + std::to_string(command.user_id.size()) +
                                         " users; at most " + std::to_string(users_per_request_max) +
                                         " at once");
    for (const schemas::user_id user : command.user_id) {
        if (!state.get(key_of(table::user).number(user)))
            return runtime::not_found("user " + std::to_string(user.value) + " not found");
        add_member(state, group->id, user);
    }
    return schemas::encode(*group);
}

}  // namespace herald::storage::registry::rules
