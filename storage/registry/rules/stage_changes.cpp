#include "storage/registry/rules/stage_changes.hpp"

#include <algorithm>

#include "schemas/views.hpp"
#include "storage/registry/emission/report_paths.hpp"
#include "storage/registry/emission/resource_events.hpp"
#include "storage/registry/find/builds.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/rules/version_content.hpp"

namespace herald::storage::registry::rules {
namespace {

using find::needs_approval;
using find::verdict;
using schemas::model_version;
using schemas::promotion;
using schemas::promotion_status;
using schemas::stage;
using schemas::transition_state;
using tables::review;
using tables::transition_row;

bool holds(const std::vector<stage>& stages, stage wanted) {
    return std::find(stages.begin(), stages.end(), wanted) != stages.end();
}

std::string state_text(const transition_row& row, transition_state state) {
    return "transition " + std::to_string(row.transition.id.value) + " is " + std::string(name_of(state));
}

std::string approvals_text(const verdict& now, const schemas::workspace& workspace) {
    return " with " + std::to_string(now.approved_by.size()) + " of " +
           std::to_string(workspace.policies.approvals_required) + " approvals that count" +
           (now.has_outdated ? " (not those given before the version was changed)" : "");
}

/// Errors: failed_precondition.
result<void> check_approval(const wanted_change& wanted, const verdict& now) {
    const transition_row& row = *wanted.transition;
    if (!find::is_open(row))
        return runtime::failed_precondition(
            {state_text(row, row.transition.state), "; only an open transition can be committed"});
    if (now.state == transition_state::rejected)
        return runtime::failed_precondition(
            {state_text(row, now.state), "; a rejected transition cannot be committed"});
    if (now.state == transition_state::approved || !needs_approval(wanted.of.workspace, wanted.desired))
        return {};
    return runtime::failed_precondition({state_text(row, now.state), approvals_text(now, wanted.of.workspace),
                                         ", and the policy require_approval_for of the workspace \"",
                                         wanted.of.workspace.name, "\" holds ", name_of(wanted.desired),
                                         "; only an APPROVED transition can be committed"});
}

/// Errors: aborted.
result<void> check_source(const wanted_change& wanted) {
    const stage source = wanted.transition->transition.source_stage;
    if (wanted.of.row.stage == source) return {};
    return runtime::aborted({"the stage of model version ", wanted.of.row.id.value, " is now ",
                             name_of(wanted.of.row.stage), ", not ", name_of(source),
                             " as when the transition was created; close it and create a new one"});
}

/// Errors: permission_denied.
result<void> check_direct(const wanted_change& wanted) {
    const schemas::workspace& workspace = wanted.of.workspace;
    if (!needs_approval(workspace, wanted.desired)) return {};
    if (is_approved_by_nobody(workspace, wanted.desired))
        return runtime::permission_denied(
            {"the stage cannot be changed: ", take_policy_back(workspace, wanted.desired)});
    return runtime::permission_denied(
        {"the policy require_approval_for of the workspace \"", workspace.name, "\" holds ",
         name_of(wanted.desired),
         ": this needs a transition that is approved; ask for one with createTransition"});
}

/// Errors: failed_precondition.
result<void> check_scan(const rule_context& context, const wanted_change& wanted) {
    if (!holds(wanted.of.workspace.policies.require_safe_scan_for, wanted.desired)) return {};
    if (find::has_safe_build(context.state, wanted.of.row)) return {};
    const bool was_changed = wanted.of.row.time_image_changed > 0;
    return runtime::failed_precondition(
        {"the policy require_safe_scan_for of the workspace \"", wanted.of.workspace.name, "\" holds ",
         name_of(wanted.desired), ": model version ", wanted.of.row.id.value,
         " needs a finished build whose newest scan is scanned and safe, and that was never reported unsafe",
         (was_changed ? ", made after what it is made of was changed" : "")});
}

std::string deadline_key(const promotion& row) {
    return schemas::big_endian(row.model_version_id.value) + schemas::big_endian(row.transition_id.value);
}

void begin_promotion(rule_context& context, const model_version& promoted, const permitted_change& change) {
    const transition_row& transition = *change.wanted().transition;
    promotion row;
    row.model_version_id = promoted.id;
    row.status = promotion_status::in_progress;
    row.transition_id = transition.transition.id;
    row.requested_by = transition.author;
    row.approved_by = change.approved_by();
    row.time_requested = transition.time_requested;
    row.time_committed = promoted.time_updated;
    if (is_flag_on(context.state, flag_name::promote_events)) {
        row.event_id = context.new_event_id();
        row.audience = emission::emit(
            context, {schemas::event_type::promote, schemas::resource_type::registered_model_version,
                      std::to_string(promoted.id.value), promoted.workspace_id, row.event_id,
                      [&](const emission::event_draft&) { return schemas::promote_body(promoted); },
                      emission::path_of_completion(promoted.registered_model_id, promoted.id)});
    }
    if (const auto seconds = change.wanted().of.workspace.policies.promotion_deadline_seconds; seconds > 0) {
        row.time_due = row.time_committed + 1'000ll * seconds;
        context.set_timer(row.time_due, context::timer_kind::promotion_deadline, deadline_key(row));
    }
    tables::promotions::put(context.state, row);
}

void end_promotion(rule_context& context, const model_version& left) {
    const auto before = tables::promotions::find(context.state, left.id);
    if (!before || before->status != promotion_status::in_progress) return;
    promotion ended = *before;
    ended.status = promotion_status::failed;
    ended.reason = "the stage was changed from PRODUCTION to " + std::string(name_of(left.stage)) +
                   " before the promotion was complete";
    ended.time_completed = left.time_updated;
    tables::promotions::update(context.state, *before, ended);
    cancel_deadline(context, *before);
}

}  // namespace

void cancel_deadline(rule_context& context, const promotion& row) {
    if (row.time_due > 0)
        context.cancel_timer(row.time_due, context::timer_kind::promotion_deadline, deadline_key(row));
}

bool is_approved_by_nobody(const schemas::workspace& workspace, stage desired) {
    return !workspace.org_id && needs_approval(workspace, desired);
}

std::string take_policy_back(const schemas::workspace& workspace, stage desired) {
    return "the policy require_approval_for of your own workspace \"" + workspace.name + "\" holds " +
           std::string(name_of(desired)) +
           ", and nobody else can approve there; the policy must be taken back first";
}

result<permitted_change> permit(const rule_context& context, const wanted_change& wanted) {
    verdict now;
    if (wanted.transition) {
        now = find::judge(context.state, *wanted.transition, wanted.of);
        if (const auto approved = check_approval(wanted, now); !approved) return approved.error();
        if (const auto still = check_source(wanted); !still) return still.error();
    } else if (const auto direct = check_direct(wanted); !direct) {
        return direct.error();
    }
    if (const auto safe = check_scan(context, wanted); !safe) return safe.error();
    return permitted_change(wanted, std::move(now.approved_by));
}

void make(rule_context& context, const permitted_change& change) {
    const model_version& before = change.wanted().of.row;
    model_version after = before;
    after.stage = change.wanted().desired;
    after.time_updated = context.stamp_ms();
    const bool is_promoted = after.stage == stage::production && change.wanted().transition;
    if (is_promoted) after.redirect_metadata.clear();
    replace_version(context, before, after);
    if (is_promoted)
        begin_promotion(context, after, change);
    else if (before.stage == stage::production)
        end_promotion(context, after);
    emission::emit_updated(context, schemas::resource_type::registered_model_version, after.id.value,
                           after.workspace_id, before, after);
}

/// The promotion was not completed in time. One that has ended, or a later one, is not meant.
void fire_promotion_deadline(rule_context& context, std::string_view key) {
    const schemas::version_id version{schemas::read_big_endian(key.substr(0, 8))};
    const schemas::activity_id transition{schemas::read_big_endian(key.substr(8))};
    const auto before = tables::promotions::find(context.state, version);
    if (!before || before->status != promotion_status::in_progress || before->transition_id != transition)
        return;
    promotion late = *before;
    late.status = promotion_status::failed;
    late.reason = "nothing completed it within " +
                  std::to_string((late.time_due - late.time_committed) / 1'000) +
                  " s, which the policy promotion_deadline_seconds of the workspace allowed";
    late.time_completed = context.stamp_ms();
    tables::promotions::update(context.state, *before, late);
}

}  // namespace herald::storage::registry::rules
