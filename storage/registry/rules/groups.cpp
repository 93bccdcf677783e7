// Groups and their members (wire.md §2).
#include "storage/registry/tables/groups.hpp"

#include <algorithm>

#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/directory.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/rules/organizations.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/tables/users.hpp"
#include "storage/registry/tables/workspaces.hpp"

namespace herald::storage::registry::rules {
namespace {

/// What a membership sweep is about: a letter, then the id.
enum class swept : char { group = 'g', user = 'u' };

std::string sweep_key(swept what, std::uint64_t id) {
    return static_cast<char>(what) + schemas::big_endian(id);
}

result<schemas::group> group_to_change(rule_context& context, schemas::organization_id org,
                                       schemas::group_id id, std::string_view what) {
    return record_to_change<tables::groups>(context, org, "group", id, what);
}

std::string answer_of(const rule_context& context, const schemas::group& group) {
    return schemas::encode(find::with_members(context.state, group));
}

result<void> check_count(const std::vector<schemas::user_id>& users) {
    if (users.size() > limits::users_per_request_max)
        return runtime::invalid_argument(
            {"user_id holds ", users.size(), " users; at most ", limits::users_per_request_max, " at once"});
    return {};
}

/// Errors: not_found; failed_precondition for one who does not belong to the organisation.
result<void> check_may_join(const rule_context& context, const schemas::group& group,
                            const std::vector<schemas::user_id>& users) {
    const schemas::group_id all_users = group_named(context.state, group.org_id, "All Users");
    for (const schemas::user_id id : users) {
        const auto user = tables::users::find(context.state, id);
        if (!user || user->removed) return runtime::not_found({"user ", id.value, " not found"});
        if (!tables::members::has(context.state, all_users, id))
            return runtime::failed_precondition({"user ", id.value, " does not belong to organization ",
                                                 group.org_id.value, "; add the user to it first"});
    }
    return {};
}

result<void> check_group(rule_context& context, const schemas::commands::set_group& command) {
    if (const auto good = check_name("name", command.name, limits::name_bytes_max); !good) return good;
    if (const auto good = check_text("description", command.description, limits::description_bytes_max);
        !good)
        return good;
    const schemas::group_id same = group_named(context.state, command.org_id, command.name);
    if (same && same != command.id)
        return runtime::already_exists(
            {"a group named \"", command.name, "\" already exists in organization ", command.org_id.value});
    return {};
}

result<void> check_is_no_built_in(const schemas::group& group) {
    if (!group.built_in) return {};
    return runtime::failed_precondition(
        {"the group \"", group.name, "\" is built in; it cannot be changed or deleted"});
}

}  // namespace

/// Errors: not_found for the organisation, the group or a user; permission_denied; invalid_argument;
/// failed_precondition for a user who does not belong to the organisation.
answer apply(rule_context& context, const schemas::commands::add_group_users& command) {
    const auto group = group_to_change(context, command.org_id, command.group_id, "adding users to a group");
    if (!group) return group.error();
    if (const auto good = check_count(command.user_id); !good) return good.error();
    if (const auto good = check_may_join(context, *group, command.user_id); !good) return good.error();
    for (const schemas::user_id user : command.user_id) tables::members::put(context.state, group->id, user);
    return answer_of(context, *group);
}

/// Errors: not_found for the organisation or the group; permission_denied; invalid_argument;
/// failed_precondition for All Users, and for the first administrator. Users who are not members are passed
/// over.
answer apply(rule_context& context, const schemas::commands::remove_group_users& command) {
    const auto group =
        group_to_change(context, command.org_id, command.group_id, "removing users from a group");
    if (!group) return group.error();
    if (const auto good = check_count(command.user_id); !good) return good.error();
    if (group->built_in && group->name == "All Users")
        return runtime::failed_precondition(
            "All Users holds every user of the organization; remove the user from the organization instead");
    if (group->org_id == first_organization && group->built_in && group->name == "Admins" &&
        std::ranges::count(command.user_id, first_administrator) > 0)
        return first_administrator_stays();
    for (const schemas::user_id user : command.user_id)
        tables::members::erase(context.state, group->id, user);
    return answer_of(context, *group);
}

/// Errors: not_found; permission_denied; failed_precondition for a built-in one, and at
/// limits::groups_per_organization_max; invalid_argument; already_exists for the name.
answer apply(rule_context& context, const schemas::commands::set_group& command) {
    state_changes& state = context.state;
    if (command.id) {
        const auto before = group_to_change(context, command.org_id, command.id, "changing a group");
        if (!before) return before.error();
        if (const auto good = check_is_no_built_in(*before); !good) return good.error();
        if (const auto good = check_group(context, command); !good) return good.error();
        schemas::group after = *before;
        after.name = command.name;
        after.description = command.description;
        tables::groups::update(state, *before, after);
        return answer_of(context, after);
    }
    const auto org = organization_to_change(context, command.org_id, "creating a group");
    if (!org) return org.error();
    if (const auto good = check_group(context, command); !good) return good.error();
    if (find::groups_of(state, org->id).size() >= limits::groups_per_organization_max)
        return runtime::failed_precondition({"organization ", org->id.value, " has ",
                                             limits::groups_per_organization_max,
                                             " groups, the most there may be; delete one first"});
    schemas::group made;
    made.id = context.next_id<schemas::group_id>("group");
    made.org_id = org->id;
    made.name = command.name;
    made.description = command.description;
    made.time_created = context.stamp_ms();
    tables::groups::put(state, made);
    return answer_of(context, made);
}

/// Errors: not_found; permission_denied; failed_precondition for a built-in one, and for one that a workspace
/// uses.
answer apply(rule_context& context, const schemas::commands::delete_group& command) {
    const auto group = group_to_change(context, command.org_id, command.id, "deleting a group");
    if (!group) return group.error();
    if (const auto good = check_is_no_built_in(*group); !good) return good.error();
    if (const auto user = tables::workspaces::using_group(context.state, group->id))
        return runtime::failed_precondition(
            {"the group \"", group->name, "\" has permissions in the workspace \"",
             access::workspace_of(context.state, *user).name, "\"; take them away first"});
    erase_group(context, *group);
    return std::string();
}

void erase_group(rule_context& context, const schemas::group& group) {
    tables::groups::erase(context.state, group);
    context.set_timer(context.time_ms(), timer_kind::membership_sweep,
                      sweep_key(swept::group, group.id.value));
}

void end_memberships(rule_context& context, schemas::user_id user) {
    std::vector<schemas::group_id> left;
    tables::members::each_group_of(context.state, user, [&](schemas::group_id id) {
        left.push_back(id);
        return left.size() < limits::memberships_per_sweep;
    });
    for (const schemas::group_id each : left) tables::members::erase(context.state, each, user);
    if (left.size() == limits::memberships_per_sweep)
        context.set_timer(context.time_ms(), timer_kind::membership_sweep,
                          sweep_key(swept::user, user.value));
}

/// Members of a group that is gone, or groups of a user who was removed.
void fire_membership_sweep(rule_context& context, std::string_view key) {
    const std::uint64_t id = schemas::read_big_endian(key.substr(1));
    if (key.front() == static_cast<char>(swept::user)) return end_memberships(context, schemas::user_id{id});
    std::vector<schemas::user_id> left;
    tables::members::each_user_of(context.state, schemas::group_id{id}, {}, [&](schemas::user_id user) {
        left.push_back(user);
        return left.size() < limits::memberships_per_sweep;
    });
    for (const schemas::user_id each : left)
        tables::members::erase(context.state, schemas::group_id{id}, each);
    if (left.size() == limits::memberships_per_sweep)
        context.set_timer(context.time_ms(), timer_kind::membership_sweep, key);
}

runner runner_of(schemas::commands::command_type type, schemas::commands::group_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
