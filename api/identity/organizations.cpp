// Organisations with their groups and roles (wire.md §2, client_calls.md §1).
#include "api/calls/handler.hpp"
#include "api/calls/rows.hpp"
#include "api/identity/routes.hpp"
#include "schemas/answers/identity.hpp"
#include "schemas/requests/identity.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/directory.hpp"

namespace herald::api::identity {
namespace {

using calls::answered;
using calls::reading_call;
using calls::response;
using calls::writing_call;
namespace answers = schemas::answers;
namespace requests = schemas::requests;

/// The organisation of the path, which the caller belongs to; else not_found.
result<schemas::organization> organization_of(const reading_call& call,
                                              const storage::registry::state::state_view& state,
                                              schemas::user_id user) {
    const auto id = call.path_id<schemas::organization_id>("org");
    if (!id) return id.error();
    auto found = storage::registry::find::organization_of(state, user, *id);
    if (!found) return runtime::not_found("organization " + call.path("org") + " not found");
    return *std::move(found);
}

/// 200 for an organisation's workspace name (or the organisation's own), 404 for a personal one
/// (client_calls.md §1).
answered get_organization_by_name(reading_call& call) {
    const std::string name = call.query("org_name");
    const storage::registry::state::state_view& state = call.state();
    const auto workspace = storage::registry::access::workspace_named(state, name);
    const bool shared = workspace && workspace->org_id &&
                        storage::registry::access::is_visible(state, call.user().id, *workspace);
    if (!shared) return runtime::not_found("organization \"" + name + "\" not found");
    return call.answer(answers::organization_answer{{workspace->org_id, name}});
}

answered list_organizations(reading_call& call) {
    auto seen = storage::registry::find::organizations_of(call.state(), call.user().id);
    const std::size_t count = seen.size();
    return call.answer(answers::organizations{std::move(seen), count});
}

answered list_groups(reading_call& call) {
    const storage::registry::state::state_view& state = call.state();
    const auto organization = organization_of(call, state, call.user().id);
    if (!organization) return organization.error();
    auto groups = storage::registry::find::groups_of(state, organization->id);
    const std::size_t count = groups.size();
    return call.answer(answers::groups{std::move(groups), count});
}

answered list_roles(reading_call& call) {
    const storage::registry::state::state_view& state = call.state();
    const auto organization = organization_of(call, state, call.user().id);
    if (!organization) return organization.error();
    auto roles = storage::registry::find::roles_of(state, organization->id);
    const std::size_t count = roles.size();
    return call.answer(answers::roles{std::move(roles), count});
}

response add_group_users(writing_call& call) {
    const auto body = call.body<requests::add_group_users>();
    if (!body) co_return body.error();
    const auto org = call.path_id<schemas::organization_id>("org");
    if (!org) co_return org.error();
    const auto group = call.path_id<schemas::group_id>("group");
    if (!group) co_return group.error();
    schemas::commands::add_group_users command;
    command.org_id = *org;
    command.group_id = *group;
    command.user_id = body->user_id;
    const auto view = [](schemas::group added) { return answers::group_answer{std::move(added)}; };
    co_return co_await call.write<schemas::group>(std::move(command), view);
}

constexpr calls::query_parameter by_org_name[]{{"org_name", "a workspace's name"}};

using namespace calls::rows;

const calls::route table[] = {
    read<answers::organization_answer>(
        "get_organization_by_name", "/api/v1/uac-proxy/organization/getOrganizationByName",
        get_organization_by_name, "organizations", "Whether the name is of a shared workspace", by_org_name),
    read<answers::organizations>("list_organizations", "/api/v2/uac-proxy/organization", list_organizations,
                                 "organizations", "The caller's organizations"),
    read<answers::groups>("list_groups", "/api/v2/uac-proxy/organization/{org}/groups", list_groups,
                          "organizations", "All groups"),
    read<answers::roles>("list_roles", "/api/v2/uac-proxy/organization/{org}/roles", list_roles,
                         "organizations", "All roles"),
    write<requests::add_group_users, answers::group_answer>(
        "add_group_users", http_method::post, "/api/v2/uac-proxy/organization/{org}/groups/{group}/users",
        add_group_users, "organizations", "Adds users to a group"),
};

}  // namespace

std::span<const calls::route> organization_routes() { return table; }

}  // namespace herald::api::identity
