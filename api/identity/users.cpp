// Users and system administrators (wire.md §2, client_calls.md §1).
#include "storage/registry/find/users.hpp"
#include "api/calls/rows.hpp"
#include "api/identity/answering.hpp"
#include "api/identity/routes.hpp"
#include "schemas/answers/identity.hpp"
#include "schemas/commands/identity.hpp"
#include "schemas/requests/identity.hpp"
#include "storage/registry/find/directory.hpp"

namespace herald::api::identity {
namespace {

using namespace calls::rows;
namespace directory = storage::registry::find;

answered verify_connection(reading_call& call) { return call.answer(answers::connection{true}); }

/// What the server owns of a user in the body's `info` is ignored and reported.
template <class Info, class Names>
result<void> ignore_owned_of_user(reading_call& call, const answers::user& kept) {
    const auto body = call.json();
    if (!body) return body.error();
    const schemas::json_value* info = body->find("info");
    if (!info) return {};
    if (const auto good = call.ignore_owned<Info>(*info, kept); !good) return good;
    const schemas::json_value* names = info->find("verta_info");
    return names ? call.ignore_owned<Names>(*names, kept.verta_info) : result<void>();
}

response create_user(writing_call& call, requests::create_user body) {
    const answers::user kept;
    if (const auto good = ignore_owned_of_user<requests::new_user, requests::new_user_names>(call, kept);
        !good)
        co_return good.error();
    schemas::commands::create_user command;
    command.email = body.info->email;
    command.full_name = body.info->full_name;
    if (body.info->verta_info) command.username = body.info->verta_info->username;
    command.user_uuid = call.with().random.uuid();
    const auto view = [](schemas::user row, const std::string& key) {
        answers::user_info answer{answers::of(std::move(row))};
        answer.record.dev_key = key;
        return answer;
    };
    co_return co_await call.write_minting<schemas::user>(std::move(command), key_purpose, view);
}

response update_user(writing_call& call, requests::update_user body) {
    schemas::commands::update_user command;
    command.default_workspace_id = body.default_workspace_id;
    if (body.info) {
        command.email = body.info->email;
        command.full_name = body.info->full_name;
        if (body.info->verta_info) {
            command.user_id = body.info->verta_info->user_id;
            command.username = body.info->verta_info->username;
        }
    }
    const auto changed =
        directory::user_with_id(call.state(), command.user_id ? command.user_id : call.user().id);
    answers::user kept;
    if (changed && directory::may_see(call.state(), call.user().id, *changed))
        kept = answers::of(directory::as_shown(call.state(), *changed));
    if (const auto good =
            ignore_owned_of_user<requests::changed_user, requests::changed_user_names>(call, kept);
        !good)
        co_return good.error();
    const auto view = [&call](schemas::user row) {
        return answers::user_info{answers::of(shown_now(call, std::move(row)))};
    };
    co_return co_await call.write<schemas::user>(std::move(command), view);
}

response delete_user(writing_call& call, requests::one_user body) {
    schemas::commands::remove_user command{body.user_id};
    co_return co_await call.write(command, answers::accepted());
}

/// The user that the first of these query parameters names: e-mail, id or username. A user whom the caller
/// may not see is not found.
result<schemas::user> user_asked_for(const reading_call& call) {
    const storage::registry::state::state_view& state = call.state();
    std::optional<schemas::user> found;
    const auto is_seen = [&] { return found && directory::may_see(state, call.user().id, *found); };
    if (const auto email = call.find_query("email")) {
        found = directory::user_with_email(state, *email);
        if (is_seen()) return *std::move(found);
        return runtime::not_found({"user with the e-mail \"", *email, "\" not found"});
    }
    if (call.find_query("user_id")) {
        const auto id = call.query_number("user_id");
        if (!id) return id.error();
        found = directory::user_with_id(state, schemas::user_id{*id});
        if (is_seen()) return *std::move(found);
        return runtime::not_found({"user ", *id, " not found"});
    }
    const auto username = call.find_query("username");
    if (!username)
        return runtime::invalid_argument(
            "the query parameter email is missing; email, user_id or username must name the user");
    found = directory::user_named(state, *username);
    if (is_seen()) return *std::move(found);
    return runtime::not_found({"user with the username \"", *username, "\" not found"});
}

answered get_user(reading_call& call) {
    auto user = user_asked_for(call);
    if (!user) return user.error();
    return call.answer(answers::of(directory::as_shown(call.state(), *std::move(user))));
}

answered get_current_user(reading_call& call) {
    return call.answer(answers::of(directory::as_shown(call.state(), call.user())));
}

slicing get_users(reading_call& call, requests::get_users body) {
    directory::wanted_users wanted{std::move(body.user_ids), std::move(body.emails),
                                   std::move(body.usernames), std::move(body.pagination)};
    return calls::answer_in_slices<answers::user_infos>(
        call, directory::search_users(call.state(), call.user().id, std::move(wanted)),
        [](schemas::user row) { return answers::of(std::move(row)); });
}

slicing list_system_admins(reading_call& call) {
    const auto page = calls::page_in_query(call);
    if (!page) return page.error();
    return calls::answer_in_slices<answers::system_admins>(
        call, directory::search_system_admins(call.state(), *page),
        [](const schemas::user& row) { return row.id; });
}

response set_system_admin(writing_call& call, bool is_admin) {
    const auto body = call.body<requests::system_admin>();
    if (!body) co_return body.error();
    schemas::commands::set_system_admin command;
    command.who = body->share_with;
    command.is_admin = is_admin;
    co_return co_await call.write(command, answers::accepted());
}
response add_system_admin(writing_call& call) { co_return co_await set_system_admin(call, true); }
response remove_system_admin(writing_call& call) { co_return co_await set_system_admin(call, false); }

constexpr calls::query_parameter which_user[]{
    {"email", "the user's e-mail", false, false},
    {"user_id", "or the user's id", true, false, schemas::id_schema<schemas::user_id>},
    {"username", "or the user's username", false, false}};

const calls::route user_table[] = {
    read<answers::connection>("verify_connection", "/api/v1/modeldb/project/verifyConnection",
                              verify_connection, "users", "Checks e-mail and key"),
    read<answers::user>("get_current_user", "/api/v1/uac-proxy/uac/getCurrentUser", get_current_user, "users",
                        "The caller"),
    read<answers::user>("get_user", "/api/v1/uac-proxy/uac/getUser", get_user, "users",
                        "A user by e-mail, id or username", which_user),
    find<get_users, answers::user_infos>("get_users", "/api/v1/uac-proxy/uac/getUsers", "users",
                                         "Users by e-mail, id or username, or all"),
    write<update_user, answers::user_info>(
        "update_user", http_method::post, "/api/v1/uac-proxy/uac/updateUser", "users",
        "Changes the caller's name or default workspace; system administrators may change others', and "
        "e-mail and username"),
    for_system_administrators(write<create_user, answers::user_info>(
        "create_user", http_method::post, "/api/v1/uac-proxy/uac/createUser", "users",
        "Creates a user; the only answer that shows the key")),
    for_system_administrators(write<delete_user, answers::accepted>(
        "delete_user", http_method::post, "/api/v1/uac-proxy/uac/deleteUser", "users",
        "Removes a user; what they did stays under their name")),
    list<answers::system_admins>("list_system_admins", "/api/v1/uac-proxy/system_admin/listSystemAdmins",
                                 list_system_admins, "users", "Who is a system administrator", calls::paging),
    for_system_administrators(write<requests::system_admin, answers::accepted>(
        "add_system_admin", http_method::post, "/api/v1/uac-proxy/system_admin/addSystemAdmin",
        add_system_admin, "users", "Makes a user a system administrator")),
    for_system_administrators(write<requests::system_admin, answers::accepted>(
        "remove_system_admin", http_method::post, "/api/v1/uac-proxy/system_admin/removeSystemAdmin",
        remove_system_admin, "users", "Takes the rights of a system administrator away")),
};

}  // namespace

std::span<const calls::route> user_routes() { return user_table; }

}  // namespace herald::api::identity
