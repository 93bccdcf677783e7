// Access tokens of stages: who has one may ask for predictions there (wire.md §5, design.md §5).
#include "storage/registry/tables/access_tokens.hpp"
#include "runtime/crypto.hpp"
#include "runtime/text.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/access/endpoints.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/endpoints.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/rules/rules.hpp"

namespace herald::storage::registry::rules {
namespace {

using schemas::access_token;
using schemas::access_token_id;

std::string end_key(access_token_id id) { return schemas::big_endian(id.value); }

result<void> check_token_request(const rule_context& context,
                                 const schemas::commands::create_access_token& command) {
    if (const auto good = check_new_token(command.token); !good) return good;
    if (const auto good = check_optional_name("label", command.label, limits::label_bytes_max); !good)
        return good;
    if (const auto good =
            check_text("the request", command.creator_request.text, limits::creator_request_bytes_max);
        !good)
        return good;
    if (const auto good = check_object("the request", command.creator_request); !good) return good;
    if (command.expires_ms == 0 || command.expires_ms > context.time_ms()) return {};
    return runtime::invalid_argument(
        {"expires is ", runtime::iso8601_ms(command.expires_ms), ", and it is ",
         runtime::iso8601_ms(context.time_ms()),
         " now; it must be a time to come, or be left out for a token that does not end"});
}

std::size_t tokens_of(const state::state_view& state, schemas::endpoint_stage_id stage) {
    std::size_t count = 0;
    tables::access_tokens::each_of(state, stage, {},
                                   [&](access_token_id) { return ++count < limits::access_tokens_max; });
    return count;
}

}  // namespace

result<void> check_new_token(const schemas::commands::new_access_token& token) {
    if (token.hash.size() != std::tuple_size_v<runtime::sha256_digest>)
        return runtime::invalid_argument("the token's hash must be 32 bytes");
    if (token.sealed_value.empty() || token.sealed_value.size() > limits::sealed_token_bytes_max ||
        token.seal_binding.size() > limits::name_bytes_max)
        return runtime::invalid_argument("the token's sealed value is missing or too long");
    return {};
}

void put_access_token(rule_context& context, const access_token& token) {
    tables::access_tokens::put(context.state, token);
    if (token.expires_ms != 0)
        context.set_timer(token.expires_ms, timer_kind::access_token_end, end_key(token.id));
}

void erase_access_token(rule_context& context, const access_token& token) {
    tables::access_tokens::erase(context.state, token);
    if (token.expires_ms != 0)
        context.cancel_timer(token.expires_ms, timer_kind::access_token_end, end_key(token.id));
}

void fire_access_token_end(rule_context& context, std::string_view key) {
    const auto token =
        tables::access_tokens::find(context.state, access_token_id{schemas::read_big_endian(key)});
    if (token) tables::access_tokens::erase(context.state, *token);
}

/// Errors: not_found; permission_denied; invalid_argument; already_exists for a value that the stage has;
/// failed_precondition at limits::access_tokens_max tokens.
answer apply(rule_context& context, const schemas::commands::create_access_token& command) {
    const auto found = access::readable_stage(context.state, context.principal(), command.workspace_name,
                                              command.endpoint_id, command.stage_id);
    if (!found) return found.error();
    if (const auto may = access::require_deploying(context.state, context.principal(), found->workspace);
        !may)
        return may.error();
    if (const auto good = check_token_request(context, command); !good) return good.error();
    const std::string what = "stage " + std::to_string(command.stage_id.value);
    if (tables::access_tokens::with_hash(context.state, command.stage_id, command.token.hash))
        return runtime::already_exists({what, " has a token with this value; it already exists"});
    if (tokens_of(context.state, command.stage_id) >= limits::access_tokens_max)
        return runtime::failed_precondition({what, " has ", limits::access_tokens_max,
                                             " access tokens, the most there may be; delete one first"});
    access_token made;
    made.id = context.next_id<access_token_id>("access token");
    made.stage_id = command.stage_id;
    made.hash = command.token.hash;
    made.sealed_value = command.token.sealed_value;
    made.seal_binding = command.token.seal_binding;
    made.label = command.label;
    made.expires_ms = command.expires_ms;
    made.creator_request = command.creator_request;
    made.time_created = context.stamp_ms();
    put_access_token(context, made);
    return schemas::encode(made);
}

/// From here on no prediction is allowed by it. Errors: not_found; permission_denied.
answer apply(rule_context& context, const schemas::commands::delete_access_token& command) {
    const auto found = access::readable_stage(context.state, context.principal(), command.workspace_name,
                                              command.endpoint_id, command.stage_id);
    if (!found) return found.error();
    const auto token = tables::access_tokens::find(context.state, command.token_id);
    if (!token || token->stage_id != command.stage_id)
        return runtime::not_found(
            {"access token ", command.token_id.value, " not found in stage ", command.stage_id.value});
    if (const auto may = access::require_deploying(context.state, context.principal(), found->workspace);
        !may)
        return may.error();
    erase_access_token(context, *token);
    return std::string();
}

runner runner_of(schemas::commands::command_type type, schemas::commands::access_token_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
