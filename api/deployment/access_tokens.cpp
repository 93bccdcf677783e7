// Access tokens of stages: a token opens the predictions of its stage (wire.md §5).
#include <algorithm>

#include "api/calls/rows.hpp"
#include "api/deployment/confirmations.hpp"
#include "api/deployment/endpoint_paths.hpp"
#include "api/deployment/limits.hpp"
#include "api/deployment/refused_value.hpp"
#include "api/deployment/routes.hpp"
#include "runtime/text.hpp"
#include "schemas/answers/endpoint_records.hpp"
#include "schemas/commands/endpoints.hpp"
#include "schemas/limits.hpp"
#include "schemas/requests/endpoints.hpp"
#include "storage/registry/find/endpoints.hpp"

namespace herald::api::deployment {
namespace {

using namespace calls::rows;
using schemas::access_token;
namespace access = storage::registry::access;
namespace find = storage::registry::find;

/// The error text never holds the value.
result<void> check_value(std::string_view value) {
    const bool is_visible = std::ranges::all_of(value, [](char c) { return c > ' ' && c <= '~'; });
    if (is_visible && value.size() <= limits::access_token_bytes_max) return {};
    return runtime::invalid_argument(
        is_visible ? "value is " + std::to_string(value.size()) + " bytes long; it must be at most " +
                         std::to_string(limits::access_token_bytes_max)
                   : "value holds a character that no header can carry; it must be 1 to " +
                         std::to_string(limits::access_token_bytes_max) + " characters of visible ASCII");
}

/// 0: it does not end. Errors: invalid_argument.
result<std::int64_t> end_of(const schemas::json_text& expires) {
    if (expires.text.empty()) return std::int64_t{0};
    const auto wrong = [&] {
        return runtime::invalid_argument(
            {"expires is ", expires.text.substr(0, limits::json_shown_bytes_max),
             "; it must be a time such as 2035-01-31T00:00:00Z, or milliseconds since the epoch"});
    };
    const auto said = schemas::parse_json(expires.text);
    if (!said) return wrong();
    if (const std::string* text = said->get_if<std::string>(); text && !text->empty())
        if (const auto time = runtime::parse_iso8601_ms(*text)) return *time;
    if (const std::string* text = said->get_if<std::string>(); text && text->empty()) return std::int64_t{0};
    const auto number = schemas::unsigned_of(*said);
    if (!number || *number > static_cast<std::uint64_t>(limits::token_end_ms_max)) return wrong();
    return static_cast<std::int64_t>(*number);
}

/// The part of the body that is kept: the value is in the log only sealed.
schemas::json_text without_value(schemas::json_value body) {
    if (schemas::json_object* members = body.get_if<schemas::json_object>())
        std::erase_if(*members, [](const auto& member) { return member.first == "value"; });
    return {schemas::to_json_text(body)};
}

/// Leaves the value empty if this node's keys cannot decrypt it.
std::string value_of(const calls::services& with, const access_token& row) {
    auto value = with.keys.unseal(row.seal_binding, row.sealed_value);
    return value ? *std::move(value) : std::string();
}

/// Errors: not_found; permission_denied.
result<void> may_deploy_on(const storage::registry::state::state_view& state, schemas::user_id user,
                           const schemas::commands::create_access_token& command) {
    const auto found =
        access::readable_stage(state, user, command.workspace_name, command.endpoint_id, command.stage_id);
    if (!found) return found.error();
    return access::require_deploying(state, user, found->workspace);
}

response create_access_token(writing_call& call) {
    const auto json = call.json();
    if (!json) co_return json.error();
    const auto body = call.body_as<requests::create_access_token>(*json);
    if (!body) co_return body.error();
    auto command = command_on_stage<schemas::commands::create_access_token>(call);
    if (!command) co_return command.error();
    const auto value_is_good = check_value(body->value);
    const auto ends_ms = end_of(body->expires);
    if (!value_is_good || !ends_ms) {
        const error& why = value_is_good ? ends_ms.error() : value_is_good.error();
        const auto may = [&](const auto& state) { return may_deploy_on(state, call.user().id, *command); };
        const auto repeated = co_await refuse_value(call, why, may);
        if (!repeated) co_return repeated.error();
    }
    auto value = minted_token(call.with());
    if (!body->value.empty()) value = body->value;
    if (!value) co_return value.error();
    command->token = sealed_token(call.with(), *value);
    command->label = body->label;
    command->expires_ms = ends_ms.has_value() ? *ends_ms : 0;
    command->creator_request = without_value(*json);
    // A repeat gets the first token's value, not the one that this node has just made.
    const auto view = [&](access_token made) {
        const std::string kept = value_of(call.with(), made);
        return answers::of(std::move(made), kept);
    };
    co_return co_await call.write<access_token>(*std::move(command), view);
}

answered list_access_tokens(reading_call& call) {
    const auto found = stage_to_show(call);
    if (!found) return found.error();
    const bool sees_values = access::may_deploy(call.state(), call.user().id, found->workspace);
    answers::access_tokens answer;
    for (access_token& row : find::tokens_of(call.state(), found->row.id, call.with().clock.wall_ms())) {
        const std::string value = sees_values ? value_of(call.with(), row) : std::string();
        answer.tokens.push_back(answers::of(std::move(row), value));
    }
    answer.total_records = answer.tokens.size();
    return call.answer(answer);
}

response delete_access_token(writing_call& call) {
    const auto id = call.path_id<schemas::access_token_id>("token");
    if (!id) co_return id.error();
    auto command = command_on_stage<schemas::commands::delete_access_token>(call);
    if (!command) co_return command.error();
    command->token_id = *id;
    co_return co_await withdraw(call, *std::move(command));
}

const calls::route access_token_table[] = {
    needing(on_endpoints, action::read,
            read<answers::access_tokens>(
                "list_access_tokens",
                "/api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages/{stage}/accesstokens",
                list_access_tokens, "endpoints",
                "The access tokens of the stage; with their values for callers who have UPDATE or DEPLOY on "
                "ENDPOINT")),
    needing_deploy_or_update(write<requests::create_access_token, answers::access_token>(
        "create_access_token", http_method::post,
        "/api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages/{stage}/accesstokens",
        create_access_token, "endpoints", "Makes an access token, with the given value or a new one")),
    needing_deploy_or_update(erase<answers::withdrawn>(
        "delete_access_token",
        "/api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages/{stage}/accesstokens/{token}",
        delete_access_token, "endpoints", "Ends an access token: from then on it opens nothing")),
};

}  // namespace

std::span<const calls::route> access_token_routes() { return access_token_table; }

}  // namespace herald::api::deployment
