// Users: how they come, change and go (wire.md §2).

#include "storage/registry/tables/users.hpp"
#include "runtime/crypto.hpp"
#include "runtime/text.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/directory.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/rules/organizations.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/tables/counters.hpp"
#include "storage/registry/tables/groups.hpp"
#include "storage/registry/tables/installation.hpp"
#include "storage/registry/tables/workspaces.hpp"

namespace herald::storage::registry::rules {
namespace {

std::string text_of(schemas::user_id id) { return "user " + std::to_string(id.value); }

result<void> check_new(const fresh_user& fresh, const std::string& username) {
    if (const auto good = check_email("email", fresh.email); !good) return good.error();
    if (const auto good = check_name("username", username, limits::name_bytes_max); !good)
        return good.error();
    if (const auto good = check_optional_name("full_name", fresh.full_name, limits::name_bytes_max); !good)
        return good.error();
    if (fresh.key_hash.size() != std::tuple_size_v<runtime::sha256_digest>)
        return runtime::invalid_argument("the developer key's hash must be 32 bytes");
    if (fresh.user_uuid == schemas::uuid{}) return runtime::invalid_argument("user_uuid is missing");
    return {};
}

/// The organisation of the user's oldest group.
schemas::organization_id organization_of(const state_view& state, const schemas::user& user) {
    if (user.org_id) return user.org_id;
    schemas::organization_id found;
    tables::members::each_group_of(state, user.id, [&](schemas::group_id id) {
        if (const auto group = tables::groups::find(state, id)) found = group->org_id;
        return !found;
    });
    return found && tables::organizations::has(state, found) ? found : first_organization;
}

/// What the own workspace of a removed user is called: nobody can keep a user by taking the name.
std::string name_once_removed(const state_view& state, const schemas::workspace& own, schemas::user_id user) {
    const std::string removed = own.name + " (removed " + std::to_string(user.value);
    std::string name = removed + ")";
    for (std::uint64_t i = 2; tables::workspaces::named(state, name); ++i)
        name = removed + ", " + std::to_string(i) + ")";
    return name;
}

/// Makes the own workspace one of the organisation.
void hand_over(rule_context& context, const schemas::user& user) {
    const auto before = access::own_workspace_of(context.state, user);
    if (!before) return;
    schemas::workspace after = *before;
    after.name = name_once_removed(context.state, *before, user.id);
    after.owner = {};
    after.org_id = organization_of(context.state, user);
    after.admins = group_named(context.state, after.org_id, "Admins");
    after.policies.require_approval_for = tables::installation::find(context.state)->require_approval_for;
    after.time_updated = context.stamp_ms();
    tables::workspaces::update(context.state, *before, after);
}

/// The user with this e-mail, else this id.
std::optional<schemas::user> user_meant(const state_view& state, const std::string& who) {
    if (auto found = find::user_with_email(state, who)) return found;
    const auto id = runtime::parse_plain_decimal(who);
    if (!id) return std::nullopt;
    auto found = tables::users::find(state, schemas::user_id{*id});
    if (found && found->removed) return std::nullopt;
    return found;
}

}  // namespace

result<schemas::user> user_to_change(rule_context& context, schemas::user_id id, std::string_view what) {
    const schemas::user_id who = id ? id : context.principal();
    auto user = tables::users::find(context.state, who);
    if (user && user->removed) user.reset();
    // Nobody gets the rights of a system administrator by a key of an account that is one.
    const bool looks_after = user && user->service_account && user->org_id && !user->system_admin &&
                             administers(context.state, context.principal(), user->org_id);
    if (who != context.principal() && !looks_after)
        if (const auto may = access::require_system_admin(context.state, context.principal(), what); !may)
            return may.error();
    if (!user) return runtime::not_found({text_of(who), " not found"});
    return *std::move(user);
}

result<void> check_names_are_free(rule_context& context, const std::string& email,
                                  const std::string& username, schemas::user_id self) {
    const state_view& state = context.state;
    const auto is_taken = [&](const std::optional<schemas::user_id>& by) { return by && *by != self; };
    if (is_taken(tables::users::with_email(state, email)))
        return runtime::already_exists({"a user with the e-mail \"", email, "\" already exists"});
    if (is_taken(tables::users::with_email(state, username)))
        return runtime::already_exists({"a user with the e-mail \"", username,
                                        "\" already exists, so nobody else can have it as username"});
    for (const std::string* name : {&email, &username})
        if (is_taken(tables::users::named(state, *name)))
            return runtime::already_exists(
                {"a user with the username \"", *name,
                 "\" already exists, so nobody else can have it as e-mail or username"});
    const auto workspace = tables::workspaces::named(state, username);
    if (workspace && !(self && access::workspace_of(state, *workspace).owner == self))
        return runtime::already_exists(
            {"a workspace named \"", username,
             "\", as this user's would be, already exists; give the user another username "
             "(verta_info.username), or that workspace another name"});
    return {};
}

result<schemas::user> add_user(rule_context& context, const fresh_user& fresh) {
    state_changes& state = context.state;
    const std::string username = fresh.username.empty() ? fresh.email : fresh.username;
    if (const auto good = check_new(fresh, username); !good) return good.error();
    if (const auto good = check_names_are_free(context, fresh.email, username, {}); !good)
        return good.error();
    schemas::user user;
    user.id = context.next_id<schemas::user_id>("user");
    user.email = fresh.email;
    user.username = username;
    user.full_name = fresh.full_name;
    user.primary_key_hash = fresh.key_hash;
    user.service_account = fresh.service_account;
    user.user_uuid = fresh.user_uuid;
    user.time_created = context.stamp_ms();
    user.description = fresh.description;
    user.associated_workspace_id = fresh.associated_workspace_id;
    if (fresh.service_account) user.org_id = fresh.org;

    schemas::workspace own;  // nobody else could approve in it, so its policies require nothing
    own.id = context.next_id<schemas::workspace_id>("workspace");
    own.name = username;
    own.owner = user.id;
    own.time_created = own.time_updated = context.stamp_ms();
    tables::workspaces::put(state, own);

    user.default_workspace_id = user.associated_workspace_id ? user.associated_workspace_id : own.id;
    tables::users::put(state, user);
    tables::members::put(state, group_named(state, fresh.org, "All Users"), user.id);
    return user;
}

void rename_user(rule_context& context, const schemas::user& before, const schemas::user& after) {
    if (after.username != before.username) {
        if (const auto own = access::own_workspace_of(context.state, before)) {
            schemas::workspace renamed = *own;
            renamed.name = after.username;
            renamed.time_updated = context.stamp_ms();
            tables::workspaces::update(context.state, *own, renamed);
        }
    }
    tables::users::update(context.state, before, after);
}

result<void> end_user(rule_context& context, const schemas::user& user) {
    state_changes& state = context.state;
    if (user.id == first_administrator)
        return runtime::failed_precondition(
            "user 1 is the first system administrator, who cannot be removed");
    if (user.id == context.principal())
        return runtime::failed_precondition("you cannot remove yourself; another system administrator can");
    hand_over(context, user);
    end_sessions(context, user.id);
    end_memberships(context, user.id);
    schemas::user gone = user;
    gone.removed = true;
    gone.system_admin = false;
    gone.primary_key_hash.clear();
    gone.secondary_key_hash.clear();
    gone.default_workspace_id = {};
    gone.associated_workspace_id = {};
    tables::users::update(state, user, gone);
    return {};
}

/// Errors: permission_denied; invalid_argument; already_exists for the e-mail or the username, or for a
/// workspace of the user's name.
answer apply(rule_context& context, const schemas::commands::create_user& command) {
    if (const auto may = access::require_system_admin(context.state, context.principal(), "creating a user");
        !may)
        return may.error();
    fresh_user fresh;
    fresh.email = command.email;
    fresh.username = command.username;
    fresh.full_name = command.full_name;
    fresh.key_hash = command.key_hash;
    fresh.service_account = command.service_account;
    fresh.user_uuid = command.user_uuid;
    const auto user = add_user(context, fresh);
    if (!user) return user.error();
    context.minted_with = command.key_name;
    return schemas::encode(*user);
}

/// Errors: permission_denied for another user, and for e-mail and username; not_found for the user or the
/// workspace; invalid_argument; already_exists for the e-mail or the username, or for a workspace of the
/// user's name.
answer apply(rule_context& context, const schemas::commands::update_user& command) {
    const auto before = user_to_change(context, command.user_id, "changing another user");
    if (!before) return before.error();
    schemas::user after = *before;
    if (!command.email.empty()) after.email = command.email;
    // A user who was given no username goes by the e-mail.
    if (before->username == before->email) after.username = after.email;
    if (!command.username.empty() && command.username != before->username) after.username = command.username;
    if (!command.full_name.empty()) after.full_name = command.full_name;
    const bool is_renamed = after.email != before->email || after.username != before->username;
    if (command.default_workspace_id) {
        const auto workspace = access::find_workspace(context.state, command.default_workspace_id);
        if (!workspace || !access::is_visible(context.state, before->id, *workspace))
            return runtime::not_found(
                {"default_workspace_id: workspace ", command.default_workspace_id.value, " not found"});
        after.default_workspace_id = workspace->id;
    }
    if (is_renamed)
        if (const auto may = access::require_system_admin(context.state, context.principal(),
                                                          "changing an e-mail or a username");
            !may)
            return may.error();
    if (const auto good = check_email("email", after.email); !good) return good.error();
    if (const auto good = check_name("username", after.username, limits::name_bytes_max); !good)
        return good.error();
    if (const auto good = check_optional_name("full_name", after.full_name, limits::name_bytes_max); !good)
        return good.error();
    if (is_renamed)
        if (const auto good = check_names_are_free(context, after.email, after.username, after.id); !good)
            return good.error();
    rename_user(context, *before, after);
    return schemas::encode(after);
}

/// Errors: permission_denied; not_found; failed_precondition.
answer apply(rule_context& context, const schemas::commands::remove_user& command) {
    if (const auto may = access::require_system_admin(context.state, context.principal(), "removing a user");
        !may)
        return may.error();
    const auto user = tables::users::find(context.state, command.user_id);
    if (!user || user->removed) return runtime::not_found({text_of(command.user_id), " not found"});
    if (const auto ended = end_user(context, *user); !ended) return ended.error();
    return std::string();
}

/// Errors: permission_denied; not_found; failed_precondition when the first one or oneself would end.
answer apply(rule_context& context, const schemas::commands::set_system_admin& command) {
    if (const auto may = access::require_system_admin(context.state, context.principal(),
                                                      "changing who is a system administrator");
        !may)
        return may.error();
    const auto user = user_meant(context.state, command.who);
    if (!user) return runtime::not_found({"user \"", command.who, "\" not found; give an e-mail or an id"});
    if (!command.is_admin && user->id == first_administrator)
        return runtime::failed_precondition("user 1 is the first system administrator, who always is one");
    if (!command.is_admin && user->id == context.principal())
        return runtime::failed_precondition(
            "you cannot take the rights of a system administrator from yourself; another one can");
    schemas::user after = *user;
    after.system_admin = command.is_admin;
    tables::users::update(context.state, *user, after);
    return std::string();
}

runner runner_of(schemas::commands::command_type type, schemas::commands::user_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
