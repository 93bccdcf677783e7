// Developer keys and sessions (wire.md §2). A user has two live keys, so that they can be changed one after
// the other; a session is a key that ends by itself.
#include <utility>

#include "runtime/crypto.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/users.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/rules/organizations.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/tables/sessions.hpp"
#include "storage/registry/tables/users.hpp"

namespace herald::storage::registry::rules {
namespace {

std::string text_of(schemas::user_id id) { return "user " + std::to_string(id.value); }

std::string timer_key(schemas::session_id id) { return schemas::big_endian(id.value); }

result<void> check_hash(std::string_view key_hash) {
    if (key_hash.size() == std::tuple_size_v<runtime::sha256_digest>) return {};
    return runtime::invalid_argument("the key's hash must be 32 bytes");
}

/// What a session makes would outlive it.
result<void> check_is_no_session(const rule_context& context) {
    const std::string& key_hash = context.command().request.credential_hash;
    if (!tables::sessions::with_key(context.state, context.principal(), key_hash)) return {};
    return runtime::permission_denied(
        "a session makes no keys and no sessions; use a developer key for this");
}

/// Ends the session of that name, if there is one. Returns how many there are then.
std::size_t replace_session(rule_context& context, schemas::user_id user, const std::string& name) {
    std::optional<schemas::session> same;
    std::size_t count = 0;
    tables::sessions::each_of(context.state, user, [&](schemas::session_id id) {
        ++count;
        auto session = tables::sessions::find(context.state, id);
        if (session && session->name == name) same = std::move(session);
        return true;
    });
    if (!same) return count;
    erase_session(context, *same);
    return count - 1;
}

/// Whether it is the sender's own, or of an account that the sender looks after.
bool may_end(const rule_context& context, const schemas::session& session) {
    const schemas::user_id sender = context.principal();
    if (session.user_id == sender || access::is_system_admin(context.state, sender)) return true;
    const auto user = tables::users::find(context.state, session.user_id);
    return user && find::looks_after(context.state, sender, *user);
}

}  // namespace

void erase_session(rule_context& context, const schemas::session& session) {
    tables::sessions::erase(context.state, session);
    context.cancel_timer(session.time_ends, timer_kind::session_end, timer_key(session.id));
}

void end_sessions(rule_context& context, schemas::user_id user, std::string_view made_with) {
    std::vector<schemas::session> all;
    tables::sessions::each_of(context.state, user, [&](schemas::session_id id) {
        auto session = tables::sessions::find(context.state, id);
        if (session && (made_with.empty() || session->made_with == made_with))
            all.push_back(*std::move(session));
        return true;
    });
    for (const schemas::session& each : all) erase_session(context, each);
}

/// Errors: permission_denied, also to a session; not_found; invalid_argument; failed_precondition for a third
/// key.
answer apply(rule_context& context, const schemas::commands::add_key& command) {
    const auto before = user_to_change(context, command.user_id, "making a key for another user");
    if (!before) return before.error();
    if (const auto good = check_is_no_session(context); !good) return good.error();
    if (const auto good = check_hash(command.key_hash); !good) return good.error();
    schemas::user after = *before;
    if (after.primary_key_hash.empty())
        after.primary_key_hash = command.key_hash;
    else if (after.secondary_key_hash.empty())
        after.secondary_key_hash = command.key_hash;
    else
        return runtime::failed_precondition(
            {text_of(after.id), " has two developer keys, the most there may be; delete one first"});
    tables::users::update(context.state, *before, after);
    context.minted_with = command.key_name;
    return schemas::encode(after);
}

/// Errors: permission_denied; not_found; failed_precondition when there is no such key, and for one's own
/// last one. A key takes the sessions along that it made, the last one all of them. Sessions of others that
/// it made open no more (access::user_with_key), and their rows stay until their time is over.
answer apply(rule_context& context, const schemas::commands::remove_key& command) {
    const auto before = user_to_change(context, command.user_id, "deleting a key of another user");
    if (!before) return before.error();
    schemas::user after = *before;
    std::string& key = command.secondary ? after.secondary_key_hash : after.primary_key_hash;
    const std::string which = command.secondary ? "secondary" : "primary";
    if (key.empty())
        return runtime::failed_precondition({text_of(after.id), " has no ", which, " developer key"});
    const std::string removed = std::exchange(key, {});
    const bool is_last = after.primary_key_hash.empty() && after.secondary_key_hash.empty();
    if (is_last && after.id == context.principal())
        return runtime::failed_precondition("this is your only developer key; make another one first");
    end_sessions(context, after.id, is_last ? std::string_view() : removed);
    tables::users::update(context.state, *before, after);
    return schemas::encode(after);
}

/// Errors: permission_denied, also to a session; not_found; invalid_argument; failed_precondition at
/// limits::sessions_per_user_max.
answer apply(rule_context& context, const schemas::commands::create_session& command) {
    const auto user = user_to_change(context, command.user_id, "making a session for another user");
    if (!user) return user.error();
    if (const auto good = check_is_no_session(context); !good) return good.error();
    if (const auto good = check_name("session_name", command.name, limits::name_bytes_max); !good)
        return good.error();
    if (const auto good = check_hash(command.key_hash); !good) return good.error();
    const std::int64_t seconds =
        command.ttl_seconds == 0 ? limits::session_seconds_default : command.ttl_seconds;
    if (seconds < 1 || seconds > limits::session_seconds_max)
        return runtime::invalid_argument(
            {"ttl_seconds is ", seconds, "; it must be 1 to ", limits::session_seconds_max});
    if (replace_session(context, user->id, command.name) >= limits::sessions_per_user_max)
        return runtime::failed_precondition({text_of(user->id), " has ", limits::sessions_per_user_max,
                                             " sessions, the most there may be; delete one first"});
    schemas::session made;
    made.id = context.next_id<schemas::session_id>("session");
    made.user_id = user->id;
    made.name = command.name;
    made.key_hash = command.key_hash;
    made.time_created = context.stamp_ms();
    made.time_ends = context.time_ms() + seconds * 1'000;
    made.made_by = context.principal();
    made.made_with = context.command().request.credential_hash;
    tables::sessions::put(context.state, made);
    context.set_timer(made.time_ends, timer_kind::session_end, timer_key(made.id));
    context.minted_with = command.key_name;
    return schemas::encode(made);
}

/// Errors: not_found for one that is not there, or of another user whom the sender does not look after;
/// invalid_argument.
answer apply(rule_context& context, const schemas::commands::delete_sessions& command) {
    std::vector<schemas::session> all;
    for (const schemas::session_id id : command.ids) {
        auto session = tables::sessions::find(context.state, id);
        if (!session || !may_end(context, *session))
            return runtime::not_found({"session ", id.value, " not found"});
        if (all.size() < limits::sessions_per_delete_max) all.push_back(*std::move(session));
    }
    if (command.ids.size() > limits::sessions_per_delete_max)
        return runtime::invalid_argument({"ids holds ", command.ids.size(), " sessions; at most ",
                                          limits::sessions_per_delete_max, " at once"});
    for (const schemas::session& each : all) erase_session(context, each);
    return std::string();
}

void fire_session_end(rule_context& context, std::string_view key) {
    const schemas::session_id id{schemas::read_big_endian(key)};
    if (const auto session = tables::sessions::find(context.state, id))
        tables::sessions::erase(context.state, *session);
}

runner runner_of(schemas::commands::command_type type, schemas::commands::key_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
