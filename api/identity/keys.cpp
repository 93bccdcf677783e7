// Developer keys and sessions (wire.md §2). A key is shown by the call that makes it, and by its repeats.
#include "api/calls/rows.hpp"
#include "api/identity/answering.hpp"
#include "api/identity/routes.hpp"
#include "runtime/crypto.hpp"
#include "schemas/answers/identity.hpp"
#include "schemas/commands/identity.hpp"
#include "schemas/requests/identity.hpp"
#include "storage/registry/find/users.hpp"

namespace herald::api::identity {
namespace {

using namespace calls::rows;
namespace directory = storage::registry::find;

constexpr std::string_view session_purpose = "session-key";

response add_key(writing_call& call, schemas::user_id of) {
    schemas::commands::add_key command;
    command.user_id = of;
    const auto view = [&call](const schemas::user& row, const std::string& key) {
        answers::user answer = answers::of(shown_now(call, row));
        const runtime::sha256_digest hash = runtime::sha256(key);
        (row.primary_key_hash == runtime::as_bytes(hash) ? answer.dev_key : answer.secondary_dev_key) = key;
        return answer;
    };
    co_return co_await call.write_minting<schemas::user>(std::move(command), key_purpose, view);
}

response add_dev_key(writing_call& call, requests::nothing) {
    const schemas::user_id own{};
    co_return co_await add_key(call, own);
}

response add_dev_key_for_user(writing_call& call, requests::one_user body) {
    co_return co_await add_key(call, body.user_id);
}

enum class which_key : bool { primary, secondary };

response delete_key(writing_call& call, schemas::user_id of, which_key which) {
    schemas::commands::remove_key command;
    command.user_id = of;
    command.secondary = which == which_key::secondary;
    const auto view = [&call](schemas::user row) { return answers::of(shown_now(call, std::move(row))); };
    co_return co_await call.write<schemas::user>(command, view);
}

response delete_own_key(writing_call& call, which_key which) {
    const auto body = call.body<requests::nothing>();
    if (!body) co_return body.error();
    const schemas::user_id own{};
    co_return co_await delete_key(call, own, which);
}

/// The user of the body or of the query.
result<schemas::user_id> user_named_by(writing_call& call) {
    const auto body = call.body<requests::maybe_one_user>();
    if (!body) return body.error();
    if (body->user_id) return body->user_id;
    if (!call.find_query("user_id")) return runtime::invalid_argument("user_id is missing; it must be an id");
    const auto id = call.query_number("user_id");
    if (!id) return id.error();
    if (*id == 0) return runtime::invalid_argument("user_id is 0; it must be an id");
    return schemas::user_id{*id};
}

response delete_users_key(writing_call& call, which_key which) {
    const auto user = user_named_by(call);
    if (!user) co_return user.error();
    co_return co_await delete_key(call, *user, which);
}

response delete_primary_dev_key(writing_call& call) {
    co_return co_await delete_own_key(call, which_key::primary);
}
response delete_secondary_dev_key(writing_call& call) {
    co_return co_await delete_own_key(call, which_key::secondary);
}
response delete_primary_dev_key_for_user(writing_call& call) {
    co_return co_await delete_users_key(call, which_key::primary);
}
response delete_secondary_dev_key_for_user(writing_call& call) {
    co_return co_await delete_users_key(call, which_key::secondary);
}

response create_session(writing_call& call, requests::create_session body) {
    schemas::commands::create_session command;
    command.user_id = body.verta_user_id;
    command.name = body.session_name;
    command.ttl_seconds = body.ttl_seconds;
    const auto view = [](const schemas::session& row, const std::string& key) {
        return answers::new_session{key, row.time_ends, row.id};
    };
    co_return co_await call.write_minting<schemas::session>(std::move(command), session_purpose, view);
}

slicing find_sessions(reading_call& call, requests::find_sessions body) {
    directory::wanted_sessions wanted{std::move(body.ids), std::move(body.verta_user_id),
                                      std::move(body.name), std::move(body.pagination)};
    return calls::answer_in_slices<answers::sessions>(
        call, directory::search_sessions(call.state(), call.user().id, std::move(wanted)),
        [](schemas::session row) { return answers::of(std::move(row)); });
}

response delete_sessions(writing_call& call, requests::delete_sessions body) {
    schemas::commands::delete_sessions command{std::move(body.ids)};
    co_return co_await call.write(std::move(command), answers::accepted());
}

const calls::route key_table[] = {
    write<add_dev_key, answers::user>("add_dev_key", http_method::post, "/api/v1/uac-proxy/uac/addDevKey",
                                      "keys",
                                      "Makes another key for the caller; the only answer that shows it"),
    write<requests::nothing, answers::user>("delete_secondary_dev_key", http_method::delete_,
                                            "/api/v1/uac-proxy/uac/deleteSecondaryDevKey",
                                            delete_secondary_dev_key, "keys", "Ends the caller's second key"),
    write<requests::nothing, answers::user>(
        "delete_primary_dev_key", http_method::delete_, "/api/v1/uac-proxy/uac/deletePrimaryDevKey",
        delete_primary_dev_key, "keys", "Ends the caller's first key, if there is a second one"),
    for_system_administrators(write<add_dev_key_for_user, answers::user>(
        "add_dev_key_for_user", http_method::post, "/api/v1/uac-proxy/uac/addDevKeyForUser", "keys",
        "Makes another key for a user, or for a service account that the caller manages as a member of "
        "Admins; "
        "the only answer that shows it")),
    for_system_administrators(write<requests::maybe_one_user, answers::user>(
        "delete_secondary_dev_key_for_user", http_method::delete_,
        "/api/v1/uac-proxy/uac/deleteSecondaryDevKeyForUser", delete_secondary_dev_key_for_user, "keys",
        "Ends a user's second key")),
    for_system_administrators(write<requests::maybe_one_user, answers::user>(
        "delete_primary_dev_key_for_user", http_method::delete_,
        "/api/v1/uac-proxy/uac/deletePrimaryDevKeyForUser", delete_primary_dev_key_for_user, "keys",
        "Ends a user's first key")),
    write<create_session, answers::new_session>(
        "create_session", http_method::post, "/api/v1/uac-proxy/session/createSession", "keys",
        "Makes a key that ends by itself; the only answer that shows it"),
    find<find_sessions, answers::sessions>("find_sessions", "/api/v1/uac-proxy/session/findSession", "keys",
                                           "The caller's sessions"),
    write<delete_sessions, answers::accepted>("delete_sessions", http_method::post,
                                              "/api/v1/uac-proxy/session/deleteSession", "keys",
                                              "Ends sessions before their time"),
};

}  // namespace

std::span<const calls::route> key_routes() { return key_table; }

}  // namespace herald::api::identity
