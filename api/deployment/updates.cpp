// Updates of endpoints' stages (wire.md §5).
#include <algorithm>

#include "api/calls/rows.hpp"
#include "api/deployment/endpoint_paths.hpp"
#include "api/deployment/routes.hpp"
#include "schemas/answers/endpoints.hpp"
#include "schemas/commands/endpoints.hpp"
#include "schemas/json_codec.hpp"
#include "schemas/requests/identity.hpp"
#include "schemas/requests/updates.hpp"

namespace herald::api::deployment {
namespace {

using namespace calls::rows;
using schemas::json_value;
using schemas::update_strategy;

using update_command = schemas::commands::update_endpoint_stage;

/// A decimal that came as a number or as a string; the rule checks it.
std::string decimal_in(const schemas::json_text& value) {
    const std::string_view text = value.text;
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
        return std::string(text.substr(1, text.size() - 2));
    return value.text;
}

/// Errors: invalid_argument for a rule without an id, without a threshold or with two.
result<update_command::rule> rule_in(const requests::canary_rule& asked) {
    if (asked.rule_id == 0)
        return runtime::invalid_argument(
            "canary_strategy.rules.rule_id is missing; it must be 1005, 1006, 1007 or 1008");
    const auto threshold =
        std::ranges::find(asked.rule_parameters, "threshold", &requests::rule_parameter::name);
    if (threshold == asked.rule_parameters.end())
        return runtime::invalid_argument(
            {"canary_strategy.rules: rule ", asked.rule_id, " has no parameter named threshold"});
    if (std::ranges::count(asked.rule_parameters, "threshold", &requests::rule_parameter::name) > 1)
        return runtime::invalid_argument({"canary_strategy.rules: rule ", asked.rule_id,
                                          " has more than one parameter named threshold; it must have one"});
    return update_command::rule{asked.rule_id, decimal_in(threshold->value)};
}

/// Errors: invalid_argument.
result<void> fill_in_canary(update_command& command, const requests::update_endpoint_stage& body) {
    if (command.strategy == update_strategy::canary && !body.canary_strategy)
        return runtime::invalid_argument(
            "canary_strategy is missing; the strategy canary needs progress_interval_seconds, "
            "progress_step and rules");
    if (!body.canary_strategy) return {};
    command.progress_interval_seconds = body.canary_strategy->progress_interval_seconds;
    command.progress_step = decimal_in(body.canary_strategy->progress_step);
    for (const requests::canary_rule& each : body.canary_strategy->rules) {
        auto rule = rule_in(each);
        if (!rule) return rule.error();
        command.rules.push_back(*std::move(rule));
    }
    return {};
}

/// Members that are kept and shown, but have no effect here.
constexpr std::string_view without_effect[] = {"resources", "autoscaling", "env"};

result<void> check_variable(const std::string& place, const json_value& variable) {
    if (!variable.get_if<schemas::json_object>())
        return schemas::wrong_member(place, variable, "an object with name and value");
    for (const std::string_view member : {"name", "value"}) {
        const json_value* const text = variable.find(member);
        const std::string at = place + "." + std::string(member);
        if (!text) return runtime::invalid_argument({at, " is missing; it must be a string"});
        if (!text->get_if<std::string>()) return schemas::wrong_member(at, *text, "a string");
    }
    return {};
}

/// Errors: invalid_argument naming the member of another kind.
result<void> check_kinds(const json_value& body) {
    for (const std::string_view name : {"resources", "autoscaling"}) {
        const json_value* const value = body.find(name);
        if (value && !value->is_null() && !value->get_if<schemas::json_object>())
            return schemas::wrong_member(name, *value, "an object");
    }
    const json_value* const env = body.find("env");
    if (!env || env->is_null()) return {};
    const schemas::json_array* const variables = env->get_if<schemas::json_array>();
    if (!variables) return schemas::wrong_member("env", *env, "a list of {name, value}");
    for (std::size_t i = 0; i < variables->size(); ++i)
        if (const auto good = check_variable("env[" + std::to_string(i) + "]", (*variables)[i]); !good)
            return good;
    return {};
}

void warn_of_no_effect(writing_call& call, const json_value& body) {
    std::string without;
    for (const std::string_view name : without_effect)
        if (const json_value* const value = body.find(name); value && !schemas::is_default(*value))
            without += (without.empty() ? "" : ", ") + std::string(name);
    if (!without.empty())
        call.warn(without + ": kept and shown, but without effect on models that run in Herald");
}

response update_endpoint_stage(writing_call& call) {
    const auto json = call.json();
    if (!json) co_return json.error();
    const auto body = call.body_as<requests::update_endpoint_stage>(*json);
    if (!body) co_return body.error();
    if (const auto good = check_kinds(*json); !good) co_return good.error();
    update_command asked;
    asked.strategy = body->strategy.value_or(update_strategy::rollout);
    if (const auto good = fill_in_canary(asked, *body); !good) co_return good.error();
    auto command = command_on_stage(call, std::move(asked));
    if (!command) co_return command.error();
    command->build_id = body->build_id;
    static_cast<schemas::serving_settings&>(*command) = *body;
    command->update_request.text = schemas::to_json_text(*json);
    warn_of_no_effect(call, *json);
    const auto view = [](schemas::endpoint_stage after) { return answers::of(std::move(after)); };
    co_return co_await call.write<schemas::endpoint_stage>(*std::move(command), view);
}

response roll_back_endpoint_stage(writing_call& call, requests::nothing) {
    auto command = command_on_stage<schemas::commands::roll_back_endpoint_stage>(call);
    if (!command) co_return command.error();
    const auto view = [](schemas::endpoint_stage after) { return answers::of(std::move(after)); };
    co_return co_await call.write<schemas::endpoint_stage>(*std::move(command), view);
}

const calls::route update_table[] = {
    needing_deploy_or_update(write<requests::update_endpoint_stage, answers::endpoint_stage>(
        "update_endpoint_stage", http_method::put,
        "/api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages/{stage}/update",
        update_endpoint_stage, "endpoints",
        "Begins to replace what the stage serves with a build, at once or as a canary")),
    needing_deploy_or_update(write<roll_back_endpoint_stage, answers::endpoint_stage>(
        "roll_back_endpoint_stage", http_method::put,
        "/api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages/{stage}/rollback", "endpoints",
        "Begins to replace what the stage serves with previous_build_id, the build that served before")),
};

}  // namespace

std::span<const calls::route> update_routes() { return update_table; }

}  // namespace herald::api::deployment
