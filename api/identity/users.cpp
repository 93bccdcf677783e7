// Users (wire.md §2, client_calls.md §1).
#include "api/calls/handler.hpp"
#include "api/calls/rows.hpp"
#include "api/identity/routes.hpp"
#include "runtime/key_ring.hpp"
#include "schemas/answers/identity.hpp"
#include "schemas/requests/identity.hpp"
#include "storage/registry/find/directory.hpp"

namespace herald::api::identity {
namespace {

using calls::answered;
using calls::reading_call;
using calls::response;
using calls::writing_call;
namespace answers = schemas::answers;
namespace requests = schemas::requests;

constexpr std::string_view key_purpose = "developer-key";

answered verify_connection(reading_call& call) { return call.answer(answers::connection{true}); }

response create_user(writing_call& call) {
    const auto body = call.body<requests::create_user>();
    if (!body) co_return body.error();
    schemas::commands::create_user command;
    command.email = body->info->email;
    command.full_name = body->info->full_name;
    if (body->info->verta_info) command.username = body->info->verta_info->username;
    command.key_name = call.with().keys.current_name();
    command.user_uuid = call.with().random.uuid();
    const auto outcome = co_await call.submit_minting(command, key_purpose);
    if (!outcome) co_return outcome.error();
    const auto user = schemas::decode<schemas::user>(outcome->body);
    if (!user) co_return user.error();
    const auto key = call.minted(*outcome, key_purpose);
    if (!key) co_return key.error();
    answers::user_info answer{answers::of(*user)};
    answer.info.dev_key = *key;
    co_return call.answer(*outcome, answer);
}

answered get_user(reading_call& call) {
    const storage::registry::state::state_view& state = call.state();
    const std::string email = call.query("email");
    const auto user = storage::registry::find::user_with_email(state, email);
    if (!user) return runtime::not_found("user with the e-mail \"" + email + "\" not found");
    return call.answer(answers::of(*user));
}

answered get_current_user(reading_call& call) { return call.answer(answers::of(call.user())); }

constexpr calls::query_parameter by_email[]{{"email", "the user's e-mail"}};

using namespace calls::rows;

const calls::route table[] = {
    read<answers::connection>("verify_connection", "/api/v1/modeldb/project/verifyConnection",
                              verify_connection, "users", "Checks e-mail and key"),
    read<answers::user>("get_current_user", "/api/v1/uac-proxy/uac/getCurrentUser", get_current_user, "users",
                        "The caller"),
    read<answers::user>("get_user", "/api/v1/uac-proxy/uac/getUser", get_user, "users", "A user by e-mail",
                        by_email),
    for_system_administrators(write<requests::create_user, answers::user_info>(
        "create_user", http_method::post, "/api/v1/uac-proxy/uac/createUser", create_user, "users",
        "Creates a user; the only answer that shows the key")),
};

}  // namespace

std::span<const calls::route> user_routes() { return table; }

}  // namespace herald::api::identity
