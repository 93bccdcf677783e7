// Service accounts: users without a person (wire.md §2), in the form of v1 and of v2.
#include "api/calls/rows.hpp"
#include "api/identity/answering.hpp"
#include "api/identity/routes.hpp"
#include "schemas/answers/identity.hpp"
#include "schemas/commands/identity.hpp"
#include "schemas/requests/identity.hpp"
#include "storage/registry/find/users.hpp"

namespace herald::api::identity {
namespace {

using namespace calls::rows;
namespace directory = storage::registry::find;

/// Requests are authenticated by e-mail, which v1 does not ask for.
constexpr std::string_view domain_of_accounts = "@service-account";

response create(writing_call& call, schemas::commands::create_service_account command) {
    command.user_uuid = call.with().random.uuid();
    const auto view = [](schemas::user row, const std::string& key) {
        answers::service_account_answer answer{answers::account_of(std::move(row))};
        answer.record.primary_key = key;
        return answer;
    };
    co_return co_await call.write_minting<schemas::user>(std::move(command), key_purpose, view);
}

response add_service_account(writing_call& call, requests::add_service_account body) {
    const auto org = call.path_id<schemas::organization_id>("org");
    if (!org) co_return org.error();
    const std::optional<answers::service_account> kept;
    if (const auto good = ignore_owned_of(call, "service_account", *body.service_account, *org, kept); !good)
        co_return good.error();
    schemas::commands::create_service_account command;
    command.org_id = *org;
    command.email = body.service_account->email;
    command.description = body.service_account->description;
    co_return co_await create(call, std::move(command));
}

response create_service_account(writing_call& call, requests::create_service_account body) {
    schemas::commands::create_service_account command;
    command.username = body.username;
    command.email = body.username;
    if (command.email.find('@') == std::string::npos) command.email += domain_of_accounts;
    command.description = body.description;
    command.associated_workspace_id = body.associated_workspace_id;
    co_return co_await create(call, std::move(command));
}

response update_service_account(writing_call& call, requests::update_service_account body) {
    schemas::commands::update_service_account command;
    command.id = body.id;
    command.username = body.username;
    command.description = body.description;
    command.associated_workspace_id = body.associated_workspace_id;
    const auto view = [](schemas::user row) {
        return answers::service_account_answer{answers::account_of(std::move(row))};
    };
    co_return co_await call.write<schemas::user>(std::move(command), view);
}

response delete_service_account(writing_call& call, requests::delete_service_account body) {
    schemas::commands::delete_service_account command;
    command.id = body.id;
    co_return co_await call.write(command, answers::accepted());
}

response remove_service_account(writing_call& call) {
    using command = schemas::commands::delete_service_account;
    return end_in_organization<command, &command::id>(call, "user", answers::accepted());
}

slicing find_service_accounts(reading_call& call, requests::find_service_accounts body) {
    directory::wanted_accounts wanted{std::move(body.ids), std::move(body.associated_workspace_ids),
                                      std::move(body.usernames), std::move(body.pagination)};
    return calls::answer_in_slices<answers::service_accounts>(
        call, directory::search_service_accounts(call.state(), call.user().id, std::move(wanted)),
        [](schemas::user row) { return answers::account_of(std::move(row)); });
}

const calls::route service_account_table[] = {
    for_organization_administrators(write<add_service_account, answers::service_account_answer>(
        "add_service_account", http_method::post, "/api/v2/uac-proxy/organization/{org}/serviceAccounts",
        "service accounts",
        "Makes a service account of the organization; the only answer that shows its key")),
    for_organization_administrators(erase<answers::accepted>(
        "remove_service_account", "/api/v2/uac-proxy/organization/{org}/serviceAccounts/{user}",
        remove_service_account, "service accounts", "Removes a service account of the organization")),
    for_organization_administrators(write<create_service_account, answers::service_account_answer>(
        "create_service_account", http_method::post, "/api/v1/uac-proxy/service_account/createServiceAccount",
        "service accounts", "Makes a service account; the only answer that shows its key")),
    find<find_service_accounts, answers::service_accounts>(
        "find_service_accounts", "/api/v1/uac-proxy/service_account/findServiceAccount", "service accounts",
        "The service accounts of the caller's organizations"),
    for_organization_administrators(write<update_service_account, answers::service_account_answer>(
        "update_service_account", http_method::post, "/api/v1/uac-proxy/service_account/updateServiceAccount",
        "service accounts", "Changes a service account")),
    for_organization_administrators(write<delete_service_account, answers::accepted>(
        "delete_service_account", http_method::post, "/api/v1/uac-proxy/service_account/deleteServiceAccount",
        "service accounts", "Ends a service account")),
};

}  // namespace

std::span<const calls::route> service_account_routes() { return service_account_table; }

}  // namespace herald::api::identity
