// Signing in and out of the console (SECURITY.md). The session is one as createSession makes it, kept in a
// cookie.
#include <algorithm>

#include "api/calls/guest_call.hpp"
#include "api/calls/rows.hpp"
#include "api/calls/session_cookie.hpp"
#include "api/console/limits.hpp"
#include "api/console/routes.hpp"
#include "api/console/services.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "schemas/answers/console.hpp"
#include "schemas/commands/identity.hpp"
#include "schemas/requests/console.hpp"
#include "schemas/requests/identity.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/artifacts.hpp"
#include "storage/registry/find/directory.hpp"
#include "storage/registry/find/users.hpp"

namespace herald::api::console {
namespace {

using namespace calls::rows;
using calls::caller;
using calls::guest_call;
namespace find = storage::registry::find;

constexpr std::string_view session_purpose = "session-key";

answers::user shown(const storage::registry::state::state_view& state, const schemas::user& row) {
    return answers::of(find::as_shown(state, row));
}

result<std::string> session_name(const std::string& browser) {
    const auto is_plain = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    };
    if (browser.size() <= limits::browser_name_bytes_max &&
        std::all_of(browser.begin(), browser.end(), is_plain))
        return "console-" + browser;
    return runtime::invalid_argument({"browser must be at most ", limits::browser_name_bytes_max,
                                      " letters and digits: they tell the caller's browsers apart"});
}

enum class signed_in_by : std::uint8_t { key, link };

response begin_session(writing_call& call, const std::string& browser, signed_in_by how) {
    schemas::commands::create_session command;
    auto name = session_name(browser);
    if (!name) co_return name.error();
    command.name = *std::move(name);
    command.ttl_seconds = limits::console_session_seconds;
    calls::cookie_session kept;
    const auto view = [&](const schemas::session& row, const std::string& key) {
        kept.user = row.user_id;
        kept.key = key;
        answers::console_session out;
        out.info = shown(call.state(), call.user());
        out.time_expires = row.time_ends;
        return out;
    };
    auto answered = co_await call.write_minting<schemas::session>(std::move(command), session_purpose, view);
    if (!answered) co_return answered.error();
    runtime::log(runtime::log_level::info, runtime::log_events::signed_in,
                 {{"email", call.user().email},
                  {"by", how == signed_in_by::key ? "key" : "link"},
                  {"remote", call.received().remote_address}});
    answered->headers.push_back(calls::kept_cookie(call.received(), call.with().address,
                                                   find::log_id_of(call.state()), kept,
                                                   limits::console_session_seconds));
    co_return answered;
}

response sign_in(writing_call& call, requests::console_sign_in body) {
    co_return co_await begin_session(call, body.browser, signed_in_by::key);
}

response make_code(writing_call& call, requests::nothing) {
    sign_in_codes* const codes = call.of<services>().codes;
    if (!codes)
        co_return runtime::failed_precondition(
            "only a standalone makes codes for the console, and this is a node of a cluster; sign in with "
            "e-mail and developer key");
    if (find::session_with_key(call.state(), call.user().id, call.credential_hash()))
        co_return runtime::permission_denied("a session makes no codes for the console; use a developer key");
    auto made = codes->make({call.user().email, call.credential_hash()});
    answers::console_code said{std::move(made.text), made.time_expires};
    co_return call.answer(said);
}

response redeem_code(guest_call& call) {
    writing_call unknown = call.as(caller());
    const auto body = unknown.body<requests::console_redemption>();
    if (!body) co_return body.error();
    // A page of another site could sign somebody in as its own user.
    if (!calls::is_of_console(call.received(), call.with().address))
        co_return runtime::invalid_argument(
            "this call is for the console's own pages: send the header herald-console: 1, and no Origin but "
            "this node's own");
    sign_in_codes* const codes = call.of<services>().codes;
    const auto whose = codes ? codes->take(body->code) : std::nullopt;
    if (whose) {
        auto user = storage::registry::access::user_with_key(*call.state().view, whose->email,
                                                             whose->credential_hash);
        if (user) {
            caller known{std::move(user), whose->credential_hash};
            writing_call own = call.as(std::move(known));
            co_return co_await begin_session(own, body->browser, signed_in_by::link);
        }
    }
    co_return runtime::not_found(
        "this code for the console is unknown, was used, or is older than 10 minutes; `herald sign-in-link` "
        "makes a new one");
}

/// A session that a stale state does not have may exist: the service answers 503 then.
bool may_be_signed_in(const guest_call& call) {
    return call.state().stale && !call.who() && call.received().header("cookie");
}

response get_session(guest_call& call) {
    if (may_be_signed_in(call)) co_return call.who().error();
    answers::console_session said;
    if (call.who()) said.info = shown(*call.state().view, *call.who()->user);
    co_return call.answer(said);
}

response sign_out(guest_call& call) {
    if (may_be_signed_in(call)) co_return call.who().error();
    const answers::done nothing;
    auto answered = call.answer(nothing);
    if (call.who()) {
        const auto session =
            find::session_with_key(*call.state().view, call.who()->user->id, call.who()->credential_hash);
        if (session) {
            writing_call own = call.as(*call.who());
            schemas::commands::delete_sessions command;
            command.ids.push_back(*session);
            const auto ended = co_await own.submit(std::move(command));
            if (!ended) co_return ended.error();
        }
    }
    answered.headers.push_back(
        calls::removed_cookie(call.received(), call.with().address, find::log_id_of(*call.state().view)));
    co_return answered;
}

const calls::route session_table[] = {
    write<sign_in, answers::console_session>(
        "console_sign_in", http_method::post, "/api/v1/console/session", "console",
        "Signs the caller in: answers with a cookie that holds a session of 12 hours. The cookie counts only "
        "beside the header herald-console: 1, and only with this node's own Origin"),
    for_guests<answers::console_session>("console_session", http_method::get, "/api/v1/console/session",
                                         get_session, "console", "Who is signed in; {} when nobody is"),
    for_guests<answers::done>("console_sign_out", http_method::delete_, "/api/v1/console/session", sign_out,
                              "console", "Ends the session and removes its cookie"),
    write<make_code, answers::console_code>(
        "console_code", http_method::post, "/api/v1/console/session/code", "console",
        "On a standalone: a code for one sign-in as the caller, within 10 minutes"),
    with_body<requests::console_redemption>(for_guests<answers::console_session>(
        "console_redeem", http_method::post, "/api/v1/console/session/redeem", redeem_code, "console",
        "Signs in with such a code, as console_sign_in does")),
};

}  // namespace

std::span<const calls::route> session_routes() { return session_table; }

}  // namespace herald::api::console
