// Groups and roles of an organisation (wire.md §2, client_calls.md §1).
#include "api/calls/rows.hpp"
#include "api/identity/answering.hpp"
#include "api/identity/routes.hpp"
#include "schemas/answers/identity.hpp"
#include "schemas/commands/organizations.hpp"
#include "schemas/requests/organizations.hpp"
#include "storage/registry/find/directory.hpp"

namespace herald::api::identity {
namespace {

using namespace calls::rows;
namespace directory = storage::registry::find;

answers::group_answer shown(schemas::group_members row) { return {std::move(row)}; }

slicing list_groups(reading_call& call) {
    return list_of_organization<answers::groups, directory::search_groups>(call, as_it_is);
}

answered get_group(reading_call& call) {
    const auto organization = organization_of(call);
    if (!organization) return organization.error();
    const auto id = call.path_id<schemas::group_id>("group");
    if (!id) return id.error();
    auto group = directory::group_of(call.state(), organization->id, *id);
    if (!group)
        return runtime::not_found(
            {"group ", call.path("group"), " not found in organization ", call.path("org")});
    schemas::group_members found = directory::with_members(call.state(), *std::move(group));
    if (found.member_ids.size() == limits::list_rows_max)
        call.warn("member_ids are the first " + std::to_string(limits::list_rows_max) + " of the group");
    return call.answer(shown(std::move(found)));
}

response set_group(writing_call& call, requests::set_group body) {
    const auto org = call.path_id<schemas::organization_id>("org");
    if (!org) co_return org.error();
    std::optional<schemas::group_members> kept;
    if (directory::organization_of(call.state(), call.user().id, *org))
        if (auto before = directory::group_of(call.state(), *org, body.group->id))
            kept = directory::with_members(call.state(), *std::move(before));
    if (const auto good = ignore_owned_of(call, "group", *body.group, *org, kept); !good)
        co_return good.error();
    schemas::commands::set_group command;
    command.org_id = *org;
    command.id = body.group->id;
    command.name = std::move(body.group->name);
    command.description = std::move(body.group->description);
    co_return co_await call.write<schemas::group_members>(std::move(command), shown);
}

response delete_group(writing_call& call) {
    using command = schemas::commands::delete_group;
    return end_in_organization<command, &command::id>(call, "group", answers::done());
}

template <class Command>
response change_members(writing_call& call) {
    auto body = call.body<requests::add_group_users>();
    if (!body) co_return body.error();
    const auto org = call.path_id<schemas::organization_id>("org");
    if (!org) co_return org.error();
    const auto group = call.path_id<schemas::group_id>("group");
    if (!group) co_return group.error();
    Command command;
    command.org_id = *org;
    command.group_id = *group;
    command.user_id = std::move(body->user_id);
    co_return co_await call.write<schemas::group_members>(std::move(command), shown);
}

slicing list_roles(reading_call& call) {
    return list_of_organization<answers::roles, directory::search_roles>(call, as_it_is);
}

answered get_role(reading_call& call) {
    const auto organization = organization_of(call);
    if (!organization) return organization.error();
    const auto id = call.path_id<schemas::role_id>("role");
    if (!id) return id.error();
    auto role = directory::role_of(call.state(), organization->id, *id);
    if (!role)
        return runtime::not_found(
            {"role ", call.path("role"), " not found in organization ", call.path("org")});
    return call.answer(answers::role_answer{*std::move(role)});
}

response set_role(writing_call& call, requests::set_role body) {
    const auto org = call.path_id<schemas::organization_id>("org");
    if (!org) co_return org.error();
    std::optional<owned_of_record> kept;
    if (directory::organization_of(call.state(), call.user().id, *org))
        if (const auto before = directory::role_of(call.state(), *org, body.role->id))
            kept = owned_of_record{before->built_in, before->time_created, 0};
    if (const auto good = ignore_owned_of(call, "role", *body.role, *org, kept); !good)
        co_return good.error();
    schemas::commands::set_role command;
    command.org_id = *org;
    command.id = body.role->id;
    command.name = std::move(body.role->name);
    command.description = std::move(body.role->description);
    command.actions = std::move(body.role->resource_actions);
    command.reports_scans = body.role->reports_scans;
    const auto view = [](schemas::role row) { return answers::role_answer{std::move(row)}; };
    co_return co_await call.write<schemas::role>(std::move(command), view);
}

response delete_role(writing_call& call) {
    using command = schemas::commands::delete_role;
    return end_in_organization<command, &command::id>(call, "role", answers::done());
}

const calls::route group_table[] = {
    list<answers::groups>("list_groups", "/api/v2/uac-proxy/organization/{org}/groups", list_groups,
                          "organizations", "All groups", calls::paging),
    for_organization_administrators(write<set_group, answers::group_answer>(
        "set_group", http_method::post, "/api/v2/uac-proxy/organization/{org}/groups", "organizations",
        "Makes a group; with an id, changes that one")),
    read<answers::group_answer>("get_group", "/api/v2/uac-proxy/organization/{org}/groups/{group}", get_group,
                                "organizations", "A group with its members"),
    for_organization_administrators(
        erase<answers::done>("delete_group", "/api/v2/uac-proxy/organization/{org}/groups/{group}",
                             delete_group, "organizations", "Deletes a group that no workspace uses")),
    for_organization_administrators(write<requests::add_group_users, answers::group_answer>(
        "add_group_users", http_method::post, "/api/v2/uac-proxy/organization/{org}/groups/{group}/users",
        change_members<schemas::commands::add_group_users>, "organizations", "Adds users to a group")),
    for_organization_administrators(write<requests::add_group_users, answers::group_answer>(
        "remove_group_users", http_method::post,
        "/api/v2/uac-proxy/organization/{org}/groups/{group}/removeUsers",
        change_members<schemas::commands::remove_group_users>, "organizations",
        "Removes users from a group")),
    list<answers::roles>("list_roles", "/api/v2/uac-proxy/organization/{org}/roles", list_roles,
                         "organizations", "All roles", calls::paging),
    for_organization_administrators(write<set_role, answers::role_answer>(
        "set_role", http_method::post, "/api/v2/uac-proxy/organization/{org}/roles", "organizations",
        "Makes a role; with an id, changes that one")),
    read<answers::role_answer>("get_role", "/api/v2/uac-proxy/organization/{org}/roles/{role}", get_role,
                               "organizations", "A role"),
    for_organization_administrators(
        erase<answers::done>("delete_role", "/api/v2/uac-proxy/organization/{org}/roles/{role}", delete_role,
                             "organizations", "Deletes a role that no workspace uses")),
    for_organization_administrators(
        erase<answers::done>("delete_role_by_client", "/api/v2/uac-proxy/organization/{org}/role/{role}",
                             delete_role, "organizations", "As the path with roles/")),
};

}  // namespace

std::span<const calls::route> group_routes() { return group_table; }

}  // namespace herald::api::identity
