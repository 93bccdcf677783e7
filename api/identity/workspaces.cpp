// Workspaces, as their members see them (wire.md §2, client_calls.md §1).
#include "api/calls/rows.hpp"
#include "api/identity/answering.hpp"
#include "api/identity/routes.hpp"
#include "schemas/answers/console.hpp"
#include "schemas/answers/identity.hpp"
#include "schemas/commands/organizations.hpp"
#include "schemas/requests/organizations.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/directory.hpp"

namespace herald::api::identity {
namespace {

using namespace calls::rows;

result<schemas::workspace> visible(const storage::registry::state::state_view& state, schemas::user_id user,
                                   std::optional<schemas::workspace> found, const std::string& what) {
    if (found && storage::registry::access::is_visible(state, user, *found)) return *std::move(found);
    return runtime::not_found({"workspace ", what, " not found"});
}

std::optional<schemas::workspace> named(const storage::registry::state::state_view& state,
                                        const std::string& name) {
    auto found = storage::registry::access::workspace_named(state, name);
    if (!found) return std::nullopt;
    return *std::move(found);
}

answered get_workspace_by_id(reading_call& call) {
    const auto id = call.query_number("id");
    if (!id) return id.error();
    const storage::registry::state::state_view& state = call.state();
    const auto found = visible(state, call.user().id,
                               storage::registry::access::find_workspace(state, schemas::workspace_id{*id}),
                               std::to_string(*id));
    if (!found) return found.error();
    return call.answer(answers::of(*found));
}

answered get_workspace_by_name(reading_call& call) {
    const std::string name = call.query("name");
    const storage::registry::state::state_view& state = call.state();
    const auto found = visible(state, call.user().id, named(state, name), "\"" + name + "\"");
    if (!found) return found.error();
    return call.answer(answers::of(*found));
}

slicing get_visible_workspaces(reading_call& call) {
    const auto page = calls::page_in_query(call);
    if (!page) return page.error();
    return calls::answer_in_slices<answers::workspaces>(
        call, storage::registry::find::search_visible_workspaces(call.state(), call.user().id, *page),
        [](schemas::workspace row) { return answers::of(std::move(row)); });
}

/// Every type is there, with no action where the caller has none: pages show why something is not allowed.
answered get_my_permissions(reading_call& call) {
    namespace access = storage::registry::access;
    const auto id = call.query_number("workspace_id");
    if (!id) return id.error();
    const storage::registry::state::state_view& state = call.state();
    const schemas::user_id me = call.user().id;
    const auto found =
        visible(state, me, access::find_workspace(state, schemas::workspace_id{*id}), std::to_string(*id));
    if (!found) return found.error();
    answers::permissions out;
    for (const auto& [type, type_name] : schemas::enum_names<schemas::protected_type>) {
        if (type == schemas::protected_type::none) continue;
        schemas::resource_actions allowed{type, {}};
        for (const auto& [what, name] : schemas::enum_names<schemas::action>)
            if (what != schemas::action::none && access::is_allowed(state, me, *found, type, what))
                allowed.allowed_actions.push_back(what);
        out.actions.push_back(std::move(allowed));
    }
    out.is_admin = access::is_workspace_admin(state, me, *found);
    out.system_admin = access::is_system_admin(state, me);
    out.reports_scans = access::may_report_scans(state, me, *found);
    out.changes_webhooks = access::may_change_webhooks(state, me, *found);
    return call.answer(out);
}

slicing list_workspaces(reading_call& call) {
    return list_of_organization<answers::workspace_records, storage::registry::find::search_workspaces>(
        call, [](schemas::workspace row) { return answers::with_permissions(std::move(row)); });
}

answered get_workspace(reading_call& call) {
    const auto organization = organization_of(call);
    if (!organization) return organization.error();
    const auto id = call.path_id<schemas::workspace_id>("workspace_id");
    if (!id) return id.error();
    auto found = storage::registry::access::find_workspace(call.state(), *id);
    if (!found || found->org_id != organization->id || found->removed)
        return runtime::not_found(
            {"workspace ", call.path("workspace_id"), " not found in organization ", call.path("org")});
    return call.answer(answers::workspace_record{answers::with_permissions(*std::move(found))});
}

response set_workspace(writing_call& call, requests::set_workspace body) {
    const auto org = call.path_id<schemas::organization_id>("org");
    if (!org) co_return org.error();
    std::optional<owned_of_record> kept;
    if (storage::registry::find::organization_of(call.state(), call.user().id, *org)) {
        const auto before = storage::registry::access::find_workspace(call.state(), body.workspace->id);
        if (before && before->org_id == *org)
            kept = owned_of_record{before->built_in, before->time_created, before->time_updated};
    }
    if (const auto good = ignore_owned_of(call, "workspace", *body.workspace, *org, kept); !good)
        co_return good.error();
    schemas::commands::set_workspace command;
    command.org_id = *org;
    command.id = body.workspace->id;
    command.name = std::move(body.workspace->name);
    command.description = std::move(body.workspace->description);
    command.name_space = std::move(body.workspace->name_space);
    command.permissions = std::move(body.workspace->permissions);
    const auto view = [](schemas::workspace row) {
        return answers::workspace_record{answers::with_permissions(std::move(row))};
    };
    co_return co_await call.write<schemas::workspace>(std::move(command), view);
}

response change_permission(writing_call& call, requests::change_permission body) {
    const auto org = call.path_id<schemas::organization_id>("org");
    if (!org) co_return org.error();
    const auto id = call.path_id<schemas::workspace_id>("workspace_id");
    if (!id) co_return id.error();
    schemas::commands::change_permission command;
    command.org_id = *org;
    command.id = *id;
    command.permission = {body.group_id, body.role_id};
    command.removes = call.received().method == runtime::http::http_method::delete_;
    const auto view = [](schemas::workspace row) {
        return answers::workspace_record{answers::with_permissions(std::move(row))};
    };
    co_return co_await call.write<schemas::workspace>(std::move(command), view);
}

response delete_workspace(writing_call& call) {
    using command = schemas::commands::delete_workspace;
    return end_in_organization<command, &command::id>(call, "workspace_id", answers::done());
}

constexpr calls::query_parameter by_id[]{
    {"id", "the workspace's id", true, true, schemas::id_schema<schemas::workspace_id>}};
constexpr calls::query_parameter by_workspace_id[]{
    {"workspace_id", "the workspace's id", true, true, schemas::id_schema<schemas::workspace_id>}};
constexpr calls::query_parameter by_workspace_name[]{{"name", "the workspace's name"}};

const calls::route workspace_table[] = {
    read<answers::workspace>("get_workspace_by_id", "/api/v1/uac-proxy/workspace/getWorkspaceById",
                             get_workspace_by_id, "workspaces", "A workspace by id", by_id),
    read<answers::workspace>("get_workspace_by_name", "/api/v1/uac-proxy/workspace/getWorkspaceByName",
                             get_workspace_by_name, "workspaces", "A workspace by name", by_workspace_name),
    list<answers::workspaces>("get_visible_workspaces", "/api/v1/uac-proxy/workspace/getVisibleWorkspaces",
                              get_visible_workspaces, "workspaces", "What the caller sees", calls::paging),
    read<answers::permissions>("get_my_permissions", "/api/v1/uac-proxy/workspace/getMyPermissions",
                               get_my_permissions, "workspaces", "What the caller may do in a workspace",
                               by_workspace_id),
    list<answers::workspace_records>("list_workspaces", "/api/v2/uac-proxy/organization/{org}/workspaces",
                                     list_workspaces, "workspaces", "All workspaces of the organization",
                                     calls::paging),
    for_organization_administrators(write<set_workspace, answers::workspace_record>(
        "set_workspace", http_method::post, "/api/v2/uac-proxy/organization/{org}/workspaces", "workspaces",
        "Makes a workspace; with an id, changes that one")),
    read<answers::workspace_record>("get_workspace",
                                    "/api/v2/uac-proxy/organization/{org}/workspaces/{workspace_id}",
                                    get_workspace, "workspaces", "A workspace with its permissions"),
    for_organization_administrators(write<change_permission, answers::workspace_record>(
        "add_permission", http_method::post,
        "/api/v2/uac-proxy/organization/{org}/workspaces/{workspace_id}/permissions", "workspaces",
        "Gives a group a role in the workspace; its other permissions stay")),
    for_organization_administrators(write<change_permission, answers::workspace_record>(
        "remove_permission", http_method::delete_,
        "/api/v2/uac-proxy/organization/{org}/workspaces/{workspace_id}/permissions", "workspaces",
        "Takes a role in the workspace from a group; its other permissions stay")),
    for_organization_administrators(erase<answers::done>(
        "delete_workspace", "/api/v2/uac-proxy/organization/{org}/workspaces/{workspace_id}",
        delete_workspace, "workspaces", "Deletes a workspace that holds no models and no webhooks")),
    for_organization_administrators(erase<answers::done>(
        "delete_workspace_by_client", "/api/v2/uac-proxy/organization/{org}/workspace/{workspace_id}",
        delete_workspace, "workspaces", "As the path with workspaces/")),
};

}  // namespace

std::span<const calls::route> workspace_routes() { return workspace_table; }

}  // namespace herald::api::identity
