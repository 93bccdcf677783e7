// Stages of endpoints: slots that builds are deployed to (wire.md §5).

#include "runtime/random.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/access/endpoints.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/endpoint_updates.hpp"
#include "storage/registry/rules/endpoints.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/rules/stage_components.hpp"
#include "storage/registry/tables/access_tokens.hpp"
#include "storage/registry/tables/endpoints.hpp"
#include "storage/registry/tables/stage_log.hpp"

namespace herald::storage::registry::rules {
namespace {

using schemas::endpoint_stage;
using schemas::endpoint_stage_id;

std::string stage_sweep_key(endpoint_stage_id id) { return schemas::big_endian(id.value); }

/// Errors: failed_precondition when there are as many as there may be; already_exists for the name.
result<void> check_has_room_for(const state::state_view& state, const schemas::endpoint& endpoint,
                                const std::string& name) {
    std::size_t count = 0;
    bool is_taken = false;
    tables::endpoint_stages::each_of(state, endpoint.id, {}, [&](endpoint_stage_id id) {
        const auto stage = tables::endpoint_stages::find(state, id);
        is_taken = is_taken || (stage && stage->name == name);
        return ++count < limits::endpoint_stages_max && !is_taken;
    });
    if (is_taken)
        return runtime::already_exists(
            {"a stage named \"", name, "\" already exists in the endpoint ", endpoint.path});
    if (count < limits::endpoint_stages_max) return {};
    return runtime::failed_precondition({"the endpoint ", endpoint.path, " has ", limits::endpoint_stages_max,
                                         " stages, the most there may be"});
}

}  // namespace

void erase_endpoint_stage(rule_context& context, const endpoint_stage& stage) {
    forget_update(context, stage);
    forget_components(context, stage);
    tables::endpoint_stages::erase(context.state, stage);
    context.set_timer(context.time_ms(), timer_kind::endpoint_stage_sweep, stage_sweep_key(stage.id));
}

/// Tokens and log of a stage that is gone.
void fire_endpoint_stage_sweep(rule_context& context, std::string_view key) {
    const endpoint_stage_id id{schemas::read_big_endian(key)};
    std::vector<schemas::access_token> tokens;
    tables::access_tokens::each_of(context.state, id, {}, [&](schemas::access_token_id each) {
        if (auto token = tables::access_tokens::find(context.state, each))
            tokens.push_back(*std::move(token));
        return true;
    });
    for (const schemas::access_token& each : tokens) erase_access_token(context, each);
    const std::size_t erased =
        tables::stage_log::erase_oldest(context.state, id, limits::stage_log_swept_per_firing);
    if (erased == limits::stage_log_swept_per_firing)
        context.set_timer(context.time_ms(), timer_kind::endpoint_stage_sweep, key);
}

/// Errors: not_found; permission_denied; invalid_argument; already_exists for the name; failed_precondition
/// at limits::endpoint_stages_max stages.
answer apply(rule_context& context, const schemas::commands::create_endpoint_stage& command) {
    const auto found = access::readable_endpoint(context.state, context.principal(), command.workspace_name,
                                                 command.endpoint_id);
    if (!found) return found.error();
    if (const auto may = access::require_deploying(context.state, context.principal(), found->workspace);
        !may)
        return may.error();
    if (const auto good = check_name("name", command.name, limits::name_bytes_max); !good)
        return good.error();
    if (const auto good =
            check_text("the request", command.creator_request.text, limits::creator_request_bytes_max);
        !good)
        return good.error();
    if (const auto good = check_object("the request", command.creator_request); !good) return good.error();
    if (command.autocreate_token)
        if (const auto good = check_new_token(command.token); !good) return good.error();
    if (const auto free = check_has_room_for(context.state, found->row, command.name); !free)
        return free.error();
    endpoint_stage made;
    made.id = context.next_id<endpoint_stage_id>("endpoint stage");
    made.endpoint_id = command.endpoint_id;
    made.name = command.name;
    made.creator_request = command.creator_request;
    made.time_created = made.time_updated = context.stamp_ms();
    tables::endpoint_stages::put(context.state, made);
    tables::stage_log::add(context.state, made.id, context.time_ms(), "the stage was created",
                           context.principal());
    if (command.autocreate_token) {
        schemas::access_token token;
        token.id = context.next_id<schemas::access_token_id>("access token");
        token.stage_id = made.id;
        token.hash = command.token.hash;
        token.sealed_value = command.token.sealed_value;
        token.seal_binding = command.token.seal_binding;
        token.is_default = true;
        token.creator_request.text = "{}";
        token.time_created = made.time_created;
        put_access_token(context, token);
    }
    touch_endpoint(context, found->row);
    return schemas::encode(made);
}

runner runner_of(schemas::commands::command_type type, schemas::commands::endpoint_stage_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
