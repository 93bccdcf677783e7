#include "storage/registry/rules/endpoint_updates.hpp"

#include <algorithm>

#include "runtime/text.hpp"
#include "schemas/json_codec.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/access/endpoints.hpp"
#include "storage/registry/rules/canary.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/endpoints.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/rules/stage_components.hpp"
#include "storage/registry/tables/builds.hpp"
#include "storage/registry/tables/endpoint_updates.hpp"
#include "storage/registry/tables/endpoints.hpp"
#include "storage/registry/tables/stage_log.hpp"

namespace herald::storage::registry::rules {
namespace {

using schemas::build;
using schemas::build_status;
using schemas::component_status;
using schemas::endpoint_stage;
using schemas::endpoint_stage_id;
using schemas::endpoint_stage_status;
using schemas::endpoint_update;
using schemas::stage_component;
using schemas::update_phase;
using schemas::update_strategy;
using schemas::whole_ppm;
using schemas::commands::update_endpoint_stage;

std::string text_of(schemas::build_id id) { return "build " + std::to_string(id.value); }

void tell(rule_context& context, const endpoint_stage& stage, std::string_view message) {
    tables::stage_log::add(context.state, stage.id, context.time_ms(), message, context.principal());
}

endpoint_stage stage_of(const rule_context& context, endpoint_stage_id id) {
    auto stage = tables::endpoint_stages::find(context.state, id);
    if (!stage) throw state::state_corrupt{"an update without its stage"};
    return *std::move(stage);
}

/// Writes the stage, and tells who listens to its endpoint.
void store_and_tell(rule_context& context, const endpoint_stage& before, endpoint_stage after) {
    store_stage(context, before, std::move(after));
    if (const auto endpoint = tables::endpoints::find(context.state, before.endpoint_id))
        touch_endpoint(context, *endpoint);
}

void end_update(rule_context& context, const endpoint_update& update) {
    cancel_step(context, update);
    tables::endpoint_updates::erase(context.state, update);
}

/// The stage with the old component alone, and the new one in error.
endpoint_stage rolled_back(const endpoint_stage& stage, const std::optional<stage_component>& old,
                           stage_component fresh, std::string_view reason) {
    endpoint_stage after = stage;
    after.components.clear();
    if (old) {
        after.components.push_back(*old);
        after.components.back().ratio_ppm = whole_ppm;
    }
    fresh.ratio_ppm = 0;
    fresh.status = component_status::error;
    fresh.message = runtime::shortened(reason, limits::stage_log_message_bytes_max);
    after.components.push_back(std::move(fresh));
    after.status = endpoint_stage_status::error;
    after.update_id = {};
    return after;
}

std::string unsafe_text(const build& row) {
    return "scan " + std::to_string(row.unsafe_scan_id.value) + " reported " + text_of(row.id) + " unsafe";
}

/// Why the build can never serve; empty while it may.
std::string why_not_served(const build& row) {
    if (row.unsafe_scan_id) return unsafe_text(row);
    if (row.status == build_status::error) return text_of(row.id) + " is in status error: " + row.message;
    if (row.runtime.empty())
        return text_of(row.id) +
               " has no runtime: its image was made elsewhere, and no upstream_url says where it runs";
    return {};
}

// ---- what is asked for

result<void> check_at_most(std::string_view name, std::uint64_t value, std::uint64_t most) {
    if (value <= most) return {};
    return runtime::invalid_argument({name, " is ", value, "; it must be at most ", most});
}

/// Errors: invalid_argument.
result<void> check_settings(const update_endpoint_stage& asked) {
    if (asked.limits.deadline_ms < 0)
        return runtime::invalid_argument(
            {"limits.deadline_ms is ", asked.limits.deadline_ms, "; it must not be negative"});
    if (const auto good = check_at_most("limits.body_bytes_max", asked.limits.body_bytes_max,
                                        limits::prediction_body_bytes_max);
        !good)
        return good;
    if (const auto good =
            check_at_most("limits.deadline_ms", static_cast<std::uint64_t>(asked.limits.deadline_ms),
                          limits::prediction_deadline_ms_max);
        !good)
        return good;
    if (const auto good = check_at_most("limits.in_flight_max", asked.limits.in_flight_max,
                                        limits::prediction_in_flight_max);
        !good)
        return good;
    if (const auto good = check_at_most("batching.size_max", asked.batching.size_max, limits::batch_size_max);
        !good)
        return good;
    if (const auto good =
            check_at_most("batching.delay_ms_max", asked.batching.delay_ms_max, limits::batch_delay_ms_max);
        !good)
        return good;
    const std::int64_t delay_ms = asked.batching.delay_ms_max;
    const bool is_batched = asked.batching.size_max >= 2;
    if (is_batched && asked.limits.deadline_ms != 0 && delay_ms * 2 >= asked.limits.deadline_ms)
        return runtime::invalid_argument({"batching.delay_ms_max is ", delay_ms,
                                          "; it must be below half of limits.deadline_ms, which is ",
                                          asked.limits.deadline_ms,
                                          ", so that a batch that waits is answered in time"});
    return {};
}

bool is_rule(std::uint32_t id) {
    return id >= static_cast<std::uint32_t>(schemas::canary_rule_kind::latency_avg_max) &&
           id <= static_cast<std::uint32_t>(schemas::canary_rule_kind::error_5xx_rate);
}

bool is_rate(std::uint32_t id) {
    return id == static_cast<std::uint32_t>(schemas::canary_rule_kind::error_4xx_rate) ||
           id == static_cast<std::uint32_t>(schemas::canary_rule_kind::error_5xx_rate);
}

/// Errors: invalid_argument.
result<schemas::canary_rule> parsed_rule(const update_endpoint_stage::rule& asked) {
    if (!is_rule(asked.rule_id))
        return runtime::invalid_argument(
            {"canary_strategy.rules.rule_id is ", asked.rule_id,
             "; it must be 1005 (latency_avg_max), 1006 (latency_p90_max), 1007 (error_4xx_rate) or 1008 "
             "(error_5xx_rate)"});
    const auto threshold =
        millionths_of("threshold of rule " + std::to_string(asked.rule_id), asked.threshold);
    if (!threshold) return threshold.error();
    if (is_rate(asked.rule_id) && *threshold > whole_ppm)
        return runtime::invalid_argument(
            {"threshold of rule ", asked.rule_id, " is ", asked.threshold, "; a rate is from 0 to 1"});
    return schemas::canary_rule{asked.rule_id, *threshold};
}

/// Errors: invalid_argument.
result<schemas::canary_plan> parsed_plan(const update_endpoint_stage& asked) {
    schemas::canary_plan plan;
    if (asked.strategy != update_strategy::canary) return plan;
    plan.progress_interval_seconds = asked.progress_interval_seconds;
    if (plan.progress_interval_seconds == 0 ||
        plan.progress_interval_seconds > limits::canary_interval_seconds_max)
        return runtime::invalid_argument({"canary_strategy.progress_interval_seconds is ",
                                          plan.progress_interval_seconds, "; it must be from 1 to ",
                                          limits::canary_interval_seconds_max});
    const auto step = millionths_of("canary_strategy.progress_step", asked.progress_step);
    if (!step) return step.error();
    if (*step == 0 || *step > whole_ppm)
        return runtime::invalid_argument(
            {"canary_strategy.progress_step is ", asked.progress_step, "; it must be over 0 and at most 1"});
    plan.progress_step_ppm = static_cast<std::uint32_t>(*step);
    if (asked.rules.empty() || asked.rules.size() > limits::canary_rules_max)
        return runtime::invalid_argument({"canary_strategy.rules has ", asked.rules.size(),
                                          " rules; it must have from 1 to ", limits::canary_rules_max});
    for (const update_endpoint_stage::rule& each : asked.rules) {
        const auto rule = parsed_rule(each);
        if (!rule) return rule.error();
        if (std::ranges::count(plan.rules, rule->rule_id, &schemas::canary_rule::rule_id) > 0)
            return runtime::invalid_argument({"canary_strategy.rules has rule ", rule->rule_id,
                                              " twice; each may be there once, with one threshold"});
        plan.rules.push_back(*rule);
    }
    return plan;
}

/// The update begins with the build as it is.
void begin(rule_context& context, const build& subject, endpoint_update update) {
    if (subject.status != build_status::building) return begin_loading(context, std::move(update));
    update.phase = update_phase::waiting_for_build;
    tables::endpoint_updates::put(context.state, update);
}

}  // namespace

void forget_update(rule_context& context, const endpoint_stage& stage) {
    if (!stage.update_id) return;
    if (const auto running = tables::endpoint_updates::find(context.state, stage.update_id))
        end_update(context, *running);
}

bool replaces_what_serves(const rule_context& context, const endpoint_update& update) {
    const auto old = old_component(stage_of(context, update.stage_id), update.id);
    const auto its = old ? tables::builds::find(context.state, old->build_id) : std::nullopt;
    return its && !its->unsafe_scan_id;
}

std::uint32_t share_of(const rule_context& context, const endpoint_update& update) {
    for (const stage_component& each : stage_of(context, update.stage_id).components)
        if (each.update_id == update.id) return each.ratio_ppm;
    return 0;
}

void set_share(rule_context& context, const endpoint_update& update, std::uint32_t new_ppm) {
    const endpoint_stage before = stage_of(context, update.stage_id);
    endpoint_stage after = before;
    for (stage_component& each : after.components) {
        const bool is_new = each.update_id == update.id;
        each.ratio_ppm = is_new ? new_ppm : whole_ppm - new_ppm;
        if (is_new) each.status = component_status::active;
    }
    store_stage(context, before, std::move(after));
    tell(context, before, text_of(update.build_id) + " has a share of " + decimal_of(new_ppm));
}

void complete_update(rule_context& context, const endpoint_update& update) {
    const endpoint_stage before = stage_of(context, update.stage_id);
    endpoint_stage after = before;
    if (const auto old = old_component(before, update.id); old && old->build_id != update.build_id)
        after.previous = schemas::served_of(*old);
    std::erase_if(after.components, [&](const stage_component& each) { return each.update_id != update.id; });
    for (stage_component& each : after.components) {
        each.ratio_ppm = whole_ppm;
        each.status = component_status::active;
    }
    after.status = endpoint_stage_status::active;
    after.update_id = {};
    end_update(context, update);
    store_and_tell(context, before, std::move(after));
    tell(context, before, text_of(update.build_id) + " serves");
}

void roll_back(rule_context& context, const endpoint_update& update, const std::string& reason) {
    const endpoint_stage before = stage_of(context, update.stage_id);
    const auto fresh = std::ranges::find(before.components, update.id, &stage_component::update_id);
    if (fresh == before.components.end()) throw state::state_corrupt{"an update without its component"};
    end_update(context, update);
    store_and_tell(context, before, rolled_back(before, old_component(before, update.id), *fresh, reason));
    tell(context, before, "the update to " + text_of(update.build_id) + " is rolled back: " + reason);
}

namespace {

/// What serves of the build says that it is unsafe.
void mark_unsafe(rule_context& context, const build& subject, const endpoint_stage& before) {
    endpoint_stage after = before;
    bool is_news = false;
    for (stage_component& each : after.components) {
        if (each.build_id != subject.id || each.ratio_ppm == 0) continue;
        if (each.status == component_status::error && each.message == unsafe_text(subject)) continue;
        is_news = true;
        each.status = component_status::error;
        each.message = unsafe_text(subject);
    }
    if (!is_news) return;
    if (!after.update_id) after.status = endpoint_stage_status::error;
    store_and_tell(context, before, std::move(after));
    tell(context, before, unsafe_text(subject) + ": its share is refused");
}

void follow_build_on(rule_context& context, const build& subject, const endpoint_stage& stage) {
    auto update = tables::endpoint_updates::find(context.state, stage.update_id);
    const bool is_to_it = update && update->build_id == subject.id;
    if (const std::string why = why_not_served(subject); is_to_it && !why.empty())
        roll_back(context, *update, why);
    else if (is_to_it && update->phase == update_phase::waiting_for_build &&
             subject.status != build_status::building)
        begin_loading(context, *std::move(update));
    if (!subject.unsafe_scan_id) return;
    mark_unsafe(context, subject, stage_of(context, stage.id));
    const auto running = tables::endpoint_updates::find(context.state, stage.update_id);
    if (running && running->phase == update_phase::canary && !replaces_what_serves(context, *running))
        complete_update(context, *running);
}

}  // namespace

void follow_build(rule_context& context, const build& subject, endpoint_stage_id from) {
    std::vector<endpoint_stage_id> stages;
    tables::deployed_builds::each_stage(context.state, subject.id, from, [&](endpoint_stage_id id) {
        stages.push_back(id);
        return stages.size() <= limits::stages_followed_at_once_max;
    });
    if (stages.size() > limits::stages_followed_at_once_max) {
        context.set_timer(context.time_ms(), context::timer_kind::deployed_build_sweep,
                          schemas::big_endian(subject.id.value) + schemas::big_endian(stages.back().value));
        stages.pop_back();
    }
    for (const endpoint_stage_id each : stages) follow_build_on(context, subject, stage_of(context, each));
}

void fire_deployed_build_sweep(rule_context& context, std::string_view key) {
    const schemas::build_id id{schemas::read_big_endian(key)};
    const auto subject = tables::builds::find(context.state, id);
    if (subject) follow_build(context, *subject, endpoint_stage_id{schemas::read_big_endian(key.substr(8))});
}

namespace {

/// Errors: not_found for the endpoint and the stage; permission_denied.
template <class Command>
result<endpoint_stage> stage_to_deploy_to(const rule_context& context, const Command& command) {
    const auto found = access::readable_stage(context.state, context.principal(), command.workspace_name,
                                              command.endpoint_id, command.stage_id);
    if (!found) return found.error();
    if (const auto may = access::require_deploying(context.state, context.principal(), found->workspace);
        !may)
        return may.error();
    return found->row;
}

/// Errors: not_found for the build; invalid_argument.
answer start(rule_context& context, const endpoint_stage& before, const update_endpoint_stage& command) {
    const auto subject = access::readable_build(context.state, context.principal(), command.build_id);
    if (!subject) return subject.error();
    if (const auto good =
            check_text("the request", command.update_request.text, limits::endpoint_request_bytes_max);
        !good)
        return good.error();
    if (const auto good = check_settings(command); !good) return good.error();
    auto plan = parsed_plan(command);
    if (!plan) return plan.error();

    const auto old = old_component(before, before.update_id);
    if (before.update_id) tell(context, before, "the update that ran is replaced by another");
    forget_update(context, before);
    endpoint_update update;
    update.id = context.next_id<schemas::update_id>("endpoint update");
    update.stage_id = before.id;
    update.build_id = command.build_id;
    update.strategy = command.strategy;
    update.canary = *std::move(plan);
    stage_component fresh;
    fresh.build_id = command.build_id;
    static_cast<schemas::serving_settings&>(fresh) = command;
    fresh.update_id = update.id;
    tell(context, before,
         "an update to " + text_of(command.build_id) + " is asked for, by " +
             std::string(name_of(command.strategy)));
    const std::string why_not = why_not_served(subject->row);
    endpoint_stage after = before;
    if (why_not.empty()) {
        after.components.clear();
        if (old) after.components.push_back(*old);
        if (old) after.components.back().ratio_ppm = whole_ppm;
        fresh.ratio_ppm = old ? 0 : whole_ppm;
        after.components.push_back(fresh);
        after.status = old ? endpoint_stage_status::updating : endpoint_stage_status::creating;
        after.update_id = update.id;
    } else {
        after = rolled_back(before, old, fresh, why_not);
        tell(context, before, "the update has ended: " + why_not);
    }
    after.update_request = command.update_request;
    store_and_tell(context, before, std::move(after));
    if (why_not.empty()) begin(context, subject->row, std::move(update));
    return schemas::encode(stage_of(context, before.id));
}

/// The update that brings it back, with the body that somebody would have sent for it.
update_endpoint_stage update_back_to(const schemas::served_build& previous) {
    update_endpoint_stage update;
    update.build_id = previous.build_id;
    static_cast<schemas::serving_settings&>(update) = previous;
    constexpr auto style = schemas::integers::as_numbers;
    update.update_request.text = schemas::object_writer()
                                     .number("build_id", previous.build_id.value)
                                     .text("strategy", name_of(update.strategy))
                                     .raw("limits", schemas::to_json_object(previous.limits, style))
                                     .raw("batching", schemas::to_json_object(previous.batching, style))
                                     .finish();
    return update;
}

}  // namespace

/// Errors: not_found for the endpoint, the stage and the build; permission_denied; invalid_argument.
answer apply(rule_context& context, const update_endpoint_stage& command) {
    const auto stage = stage_to_deploy_to(context, command);
    if (!stage) return stage.error();
    return start(context, *stage, command);
}

/// Errors: as of update_endpoint_stage, not_found also for a build that is deleted; failed_precondition when
/// no build served before.
answer apply(rule_context& context, const schemas::commands::roll_back_endpoint_stage& command) {
    const auto stage = stage_to_deploy_to(context, command);
    if (!stage) return stage.error();
    const auto previous = previous_of(*stage);
    if (!previous)
        return runtime::failed_precondition(
            {"no build served the stage \"", stage->name, "\" before; update it to a build by its id"});
    return start(context, *stage, update_back_to(*previous));
}

runner runner_of(schemas::commands::command_type type, schemas::commands::endpoint_update_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
