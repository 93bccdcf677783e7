// Updates of endpoints' stages (wire.md §5).
#include <algorithm>

#include "api/calls/handler.hpp"
#include "api/calls/rows.hpp"
#include "api/deployment/endpoint_paths.hpp"
#include "api/deployment/routes.hpp"
#include "schemas/answers/endpoints.hpp"
#include "schemas/requests/updates.hpp"

namespace herald::api::deployment {
namespace {

using calls::response;
using calls::writing_call;
using schemas::update_strategy;
namespace answers = schemas::answers;
namespace requests = schemas::requests;

using update_command = schemas::commands::update_endpoint_stage;

/// A decimal, whether it came as a number or as a string; the rule says whether it is one.
std::string decimal_in(const schemas::json_text& value) {
    const std::string_view text = value.text;
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
        return std::string(text.substr(1, text.size() - 2));
    return value.text;
}

/// Errors: invalid_argument for a rule without an id or a threshold.
result<update_command::rule> rule_in(const requests::canary_rule& asked) {
    if (asked.rule_id == 0)
        return runtime::invalid_argument(
            "canary_strategy.rules.rule_id is missing; it must be 1005, 1006, 1007 or 1008");
    const auto threshold =
        std::ranges::find(asked.rule_parameters, "threshold", &requests::rule_parameter::name);
    if (threshold == asked.rule_parameters.end())
        return runtime::invalid_argument("canary_strategy.rules: rule " + std::to_string(asked.rule_id) +
                                         " has no parameter named threshold");
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

/// What is kept and shown, but changes nothing here.
void warn_of_no_effect(writing_call& call, const requests::update_endpoint_stage& body) {
    std::string without;
    const auto add = [&](std::string_view name, const schemas::json_text& value) {
        if (!value.text.empty() && value.text != "null")
            without += (without.empty() ? "" : ", ") + std::string(name);
    };
    add("resources", body.resources);
    add("autoscaling", body.autoscaling);
    add("env", body.env);
    if (!without.empty())
        call.warn(without + ": kept and shown, without effect on models that run in Herald");
}

response update_endpoint_stage(writing_call& call) {
    const auto json = call.json();
    if (!json) co_return json.error();
    const auto body = call.body_as<requests::update_endpoint_stage>(*json);
    if (!body) co_return body.error();
    update_command asked;
    asked.strategy = body->strategy.value_or(update_strategy::rollout);
    if (const auto good = fill_in_canary(asked, *body); !good) co_return good.error();
    auto command = command_on_stage(call, std::move(asked));
    if (!command) co_return command.error();
    command->build_id = body->build_id;
    command->limits = body->limits;
    command->batching = body->batching;
    command->update_request.text = schemas::to_json_text(*json);
    warn_of_no_effect(call, *body);
    const auto view = [](schemas::endpoint_stage after) { return answers::of(std::move(after)); };
    co_return co_await call.write<schemas::endpoint_stage>(*std::move(command), view);
}

using namespace calls::rows;

const calls::route table[] = {
    needing_deploy_or_update(write<requests::update_endpoint_stage, answers::endpoint_stage>(
        "update_endpoint_stage", http_method::put,
        "/api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages/{stage}/update",
        update_endpoint_stage, "endpoints",
        "Begins to replace what the stage serves by a build, at once or as a canary")),
};

}  // namespace

std::span<const calls::route> update_routes() { return table; }

}  // namespace herald::api::deployment
