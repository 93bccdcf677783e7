// Organisations and who belongs to them (wire.md §2, client_calls.md §1).
#include "schemas/commands/organizations.hpp"
#include "api/calls/rows.hpp"
#include "api/identity/answering.hpp"
#include "api/identity/routes.hpp"
#include "schemas/answers/identity.hpp"
#include "schemas/requests/organizations.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/directory.hpp"
#include "storage/registry/find/users.hpp"

namespace herald::api::identity {
namespace {

using namespace calls::rows;
namespace directory = storage::registry::find;

/// 200 for an organisation's workspace name (or the organisation's own), 404 for a personal one
/// (client_calls.md §1).
answered get_organization_by_name(reading_call& call) {
    const std::string name = call.query("org_name");
    const storage::registry::state::state_view& state = call.state();
    const auto workspace = storage::registry::access::workspace_named(state, name);
    const bool shared = workspace && workspace->org_id &&
                        storage::registry::access::is_visible(state, call.user().id, *workspace);
    if (!shared) return runtime::not_found({"organization \"", name, "\" not found"});
    return call.answer(answers::organization_answer{{workspace->org_id, name}});
}

slicing list_organizations(reading_call& call) {
    const auto page = calls::page_in_query(call);
    if (!page) return page.error();
    return calls::answer_in_slices<answers::organizations>(
        call, directory::search_organizations(call.state(), call.user().id, *page), as_it_is);
}

answered get_organization(reading_call& call) {
    auto organization = organization_of(call);
    if (!organization) return organization.error();
    return call.answer(answers::organization_record{*std::move(organization)});
}

answered get_organization_record_by_name(reading_call& call) {
    const std::string name = call.query("name");
    auto found = directory::organization_named(call.state(), call.user().id, name);
    if (!found) return runtime::not_found({"organization \"", name, "\" not found"});
    return call.answer(answers::organization_record{*std::move(found)});
}

response set_organization(writing_call& call, requests::set_organization body) {
    const auto kept = directory::organization_of(call.state(), call.user().id, body.organization->id)
                          .value_or(schemas::organization{});
    if (const auto good = ignore_owned_in<requests::sent_organization>(call, "organization", kept); !good)
        co_return good.error();
    schemas::commands::set_organization command;
    command.id = body.organization->id;
    command.name = std::move(body.organization->name);
    const auto view = [](schemas::organization row) { return answers::organization_record{std::move(row)}; };
    co_return co_await call.write<schemas::organization>(std::move(command), view);
}

response delete_organization(writing_call& call) {
    const auto org = call.path_id<schemas::organization_id>("org");
    if (!org) co_return org.error();
    schemas::commands::delete_organization command{*org};
    co_return co_await call.write(command, answers::done());
}

slicing list_organization_users(reading_call& call) {
    return list_of_organization<answers::users, directory::search_members>(
        call, [](schemas::user row) { return answers::of(std::move(row)); });
}

response add_organization_user(writing_call& call, requests::add_organization_user body) {
    const auto org = call.path_id<schemas::organization_id>("org");
    if (!org) co_return org.error();
    schemas::commands::add_organization_user command;
    command.org_id = *org;
    command.email = std::move(body.email);
    const auto view = [&call](schemas::user row) {
        return answers::user_answer{answers::of(shown_now(call, std::move(row)))};
    };
    co_return co_await call.write<schemas::user>(std::move(command), view);
}

response remove_organization_user(writing_call& call) {
    using command = schemas::commands::remove_organization_user;
    return end_in_organization<command, &command::user_id>(call, "user", answers::accepted());
}

constexpr calls::query_parameter by_org_name[]{{"org_name", "a workspace's name"}};
constexpr calls::query_parameter by_organization_name[]{{"name", "the organization's name"}};

const calls::route organization_table[] = {
    read<answers::organization_answer>("get_organization_by_name",
                                       "/api/v1/uac-proxy/organization/getOrganizationByName",
                                       get_organization_by_name, "organizations",
                                       "Whether the name is that of a shared workspace", by_org_name),
    list<answers::organizations>("list_organizations", "/api/v2/uac-proxy/organization", list_organizations,
                                 "organizations", "The caller's organizations", calls::paging),
    for_system_administrators(write<set_organization, answers::organization_record>(
        "set_organization", http_method::post, "/api/v2/uac-proxy/organization", "organizations",
        "Makes an organization; with an id, changes that one")),
    read<answers::organization_record>(
        "get_organization_record_by_name", "/api/v2/uac-proxy/organization/getOrganizationByName",
        get_organization_record_by_name, "organizations", "An organization by name", by_organization_name),
    read<answers::organization_record>("get_organization", "/api/v2/uac-proxy/organization/{org}",
                                       get_organization, "organizations", "An organization"),
    for_system_administrators(erase<answers::done>(
        "delete_organization", "/api/v2/uac-proxy/organization/{org}", delete_organization, "organizations",
        "Deletes an organization that holds nothing")),
    list<answers::users>("list_organization_users", "/api/v2/uac-proxy/organization/{org}/users",
                         list_organization_users, "organizations", "Who belongs to the organization",
                         calls::paging),
    for_organization_administrators(write<add_organization_user, answers::user_answer>(
        "add_organization_user", http_method::post, "/api/v2/uac-proxy/organization/{org}/users",
        "organizations", "Adds a user to the organization")),
    for_organization_administrators(erase<answers::accepted>(
        "remove_organization_user", "/api/v2/uac-proxy/organization/{org}/users/{user}",
        remove_organization_user, "organizations", "Removes a user from the organization's groups")),
};

}  // namespace

std::span<const calls::route> organization_routes() { return organization_table; }

}  // namespace herald::api::identity
