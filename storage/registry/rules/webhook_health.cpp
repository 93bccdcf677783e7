// What becomes of webhooks whose receivers fail: others are told by WEBHOOK_HEALTH, and at last it is
// disabled (delivery.md §3-4, wire.md §7 "Events").
#include "storage/registry/rules/webhook_health.hpp"

#include <algorithm>

#include "runtime/text.hpp"
#include "schemas/json.hpp"
#include "storage/registry/audit/audit.hpp"
#include "storage/registry/emission/emission.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/tables/nodes.hpp"
#include "storage/registry/tables/webhooks.hpp"

namespace herald::storage::registry::rules {
namespace {

using context::rule_context;
using context::timer_kind;
using schemas::webhook;
using schemas::webhook_status;
using schemas::commands::webhook_condition;

constexpr std::int64_t day_ms = 24ll * 3'600'000;

/// What WEBHOOK_HEALTH says.
struct news {
    std::string_view condition;
    std::int64_t since_ms = 0;
    std::string_view reason;
};

std::string body_of(const emission::event_draft& draft, std::int64_t time_ms, const webhook& about,
                    const news& told) {
    const std::string hook = schemas::object_writer()
                                 .number("id", about.id.value)
                                 .text("name", about.settings.name)
                                 .text("host", authority_of(about.settings.location))
                                 .finish();
    return emission::begun_envelope(draft, time_ms)
        .raw("webhook", hook)
        .text("condition", told.condition)
        .text("since", runtime::iso8601_ms(told.since_ms))
        .text("reason", told.reason)
        .finish();
}

/// Never to the webhook itself.
void tell(rule_context& context, const webhook& about, const news& told) {
    emission::emit(context, {.type = schemas::event_type::webhook_health,
                             .resource_type = schemas::resource_type::none,
                             .resource_id = std::to_string(about.id.value),
                             .workspace_id = about.workspace_id,
                             .id = {},
                             .make_body =
                                 [&](const emission::event_draft& draft) {
                                     return body_of(draft, context.time_ms(), about, told);
                                 },
                             .except = about.id});
}

enum class others { are_told, are_not };

/// Disables it under a new revision, which the publisher forwards; the audit says so (delivery.md §3).
void disable(rule_context& context, const webhook& before, const std::string& reason, others who) {
    webhook hook = before;
    hook.status = webhook_status::disabled;
    hook.status_reason = reason;
    hook.time_updated = context.stamp_ms();
    hook.revision = context.offset();
    hook.disable_at_ms = 0;
    const std::int64_t now_ms = context.time_ms();
    if (who == others::are_told &&
        now_ms - before.disabled_told_ms >= limits::webhook_disabled_told_again_ms) {
        tell(context, before,
             {"disabled", before.failing_since_ms == 0 ? now_ms : before.failing_since_ms, reason});
        hook.disabled_told_ms = now_ms;
    }
    tables::webhooks::update(context.state, before, hook);
    audit::add_by_itself(context, "disable_webhook",
                         {.type = "WEBHOOK",
                          .id = std::to_string(hook.id.value),
                          .workspace = hook.workspace_id,
                          .name = audit::name_of(context.state, "webhook", std::to_string(hook.id.value))});
}

std::string disabling_key(const webhook& hook) {
    return schemas::big_endian(hook.id.value) +
           schemas::big_endian(static_cast<std::uint64_t>(hook.disable_at_ms));
}

/// It is announced a day before. Whether it is still wanted then, the timers' own row says.
void plan_to_disable(rule_context& context, webhook& hook) {
    const std::int64_t announced_ms =
        std::max(hook.failing_since_ms + limits::webhook_disable_after_ms - limits::webhook_disabling_told_ms,
                 context.time_ms());
    hook.disable_at_ms = announced_ms + limits::webhook_disabling_told_ms;
    context.set_timer(announced_ms, timer_kind::webhook_disable_soon, disabling_key(hook));
    context.set_timer(hook.disable_at_ms, timer_kind::webhook_disable, schemas::big_endian(hook.id.value));
}

void take_failures(rule_context& context, const webhook& before,
                   const schemas::commands::webhook_health& report) {
    const std::int64_t now_ms = context.time_ms();
    webhook hook = before;
    if (hook.failing_since_ms == 0)
        hook.failing_since_ms = std::max<std::int64_t>(1, std::min(report.failing_since_ms, now_ms));
    hook.failing_counts = hook.failing_counts || report.failed_attempts > 0;
    const auto meaning = schemas::commands::meaning_of_failures(
        hook.failing_since_ms, std::min(report.failed_until_ms, now_ms), report.failed_attempts, now_ms);
    if (meaning.is_failing && !hook.failing_told) {
        hook.failing_told = true;
        tell(context, hook, {"failing", hook.failing_since_ms, report.reason});
    }
    if (meaning.may_disable && hook.disable_at_ms == 0) plan_to_disable(context, hook);
    tables::webhooks::update(context.state, before, hook);
}

void take_recovery(rule_context& context, const webhook& before) {
    if (before.failing_told)
        tell(context, before,
             {"recovered", before.failing_since_ms == 0 ? context.time_ms() : before.failing_since_ms,
              "an attempt has succeeded"});
    webhook hook = before;
    forget_failures(hook);
    tables::webhooks::update(context.state, before, hook);
}

}  // namespace

void forget_failures(webhook& hook) {
    hook.failing_since_ms = 0;
    hook.failing_counts = false;
    hook.failing_told = false;
    hook.disable_at_ms = 0;
}

answer apply(rule_context& context, const schemas::commands::webhook_health& command) {
    const auto claim = tables::claims::find(context.state, schemas::job_name(schemas::job::webhook_health));
    if (!claim || claim->token != command.token)
        return runtime::aborted("the job webhook-health has another holder");
    const auto before = tables::webhooks::find(context.state, command.webhook_id);
    if (!before || before->revision != command.revision || before->status == webhook_status::disabled)
        return std::string();
    switch (command.condition) {
        case webhook_condition::healthy:
            take_recovery(context, *before);
            break;
        case webhook_condition::failing:
            take_failures(context, *before, command);
            break;
        case webhook_condition::gone:
            disable(context, *before, command.reason,
                    command.failed_attempts > 0 ? others::are_told : others::are_not);
            break;
    }
    return std::string();
}

void fire_webhook_disable_soon(rule_context& context, std::string_view key) {
    const auto hook = tables::webhooks::find(context.state,
                                             schemas::webhook_id{schemas::read_big_endian(key.substr(0, 8))});
    if (!hook || hook->status == webhook_status::disabled || !hook->failing_counts) return;
    if (disabling_key(*hook) != key) return;  // it has recovered since
    const std::string reason = "nothing but failures since " + runtime::iso8601_ms(hook->failing_since_ms) +
                               "; without a success it is disabled at " +
                               runtime::iso8601_ms(hook->disable_at_ms);
    tell(context, *hook, {"disabling", hook->failing_since_ms, reason});
}

void fire_webhook_disable(rule_context& context, std::string_view key) {
    const auto hook =
        tables::webhooks::find(context.state, schemas::webhook_id{schemas::read_big_endian(key)});
    if (!hook || hook->status == webhook_status::disabled) return;
    if (hook->disable_at_ms == 0 || hook->disable_at_ms > context.time_ms())
        return;  // it has recovered, and may fail anew
    disable(context, *hook,
            "nothing but failures for " + std::to_string(limits::webhook_disable_after_ms / day_ms) + " days",
            hook->failing_counts ? others::are_told : others::are_not);
}

}  // namespace herald::storage::registry::rules
