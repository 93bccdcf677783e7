// Stage transitions and promotions: requested, reviewed by somebody else, committed (wire.md "Stage
// transitions").
#include <algorithm>

#include "runtime/assert.hpp"
#include "schemas/limits.hpp"
#include "schemas/views.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/emission/resource_events.hpp"
#include "storage/registry/find/builds.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/tables/stages.hpp"
#include "storage/registry/tables/versions.hpp"

namespace herald::storage::registry::rules {
namespace {

using access::readable_version;
using access::require;
using context::rule_context;
using schemas::action;
using schemas::activity;
using schemas::model_version;
using schemas::promotion;
using schemas::promotion_status;
using schemas::protected_type;
using schemas::stage;
using schemas::transition_state;
using tables::review;
using tables::transition_row;

/// A transition with its version and workspace, which the caller may read and act on.
struct opened_transition {
    transition_row row;
    model_version version;
    schemas::workspace workspace;
};

/// Errors: not_found; permission_denied.
result<opened_transition> open_transition(const rule_context& context, schemas::activity_id id,
                                          action wanted) {
    const std::string what = "transition " + std::to_string(id.value);
    auto row = tables::transitions::find(context.state, id);
    if (!row) return runtime::not_found(what + " not found");
    auto version = readable_version(context.state, context.principal(), row->model_version_id);
    if (!version) return runtime::not_found(what + " not found");
    if (const auto may = require(context.state, context.principal(), version->workspace,
                                 protected_type::registered_model, wanted, what);
        !may)
        return may.error();
    return opened_transition{*std::move(row), std::move(version->row), std::move(version->workspace)};
}

/// Adds an activity to the version's history.
activity new_activity(rule_context& context, schemas::version_id version, const std::string& comment) {
    activity entry;
    entry.id = context.next_id<schemas::activity_id>("activity");
    entry.model_version_id = version;
    entry.author_id = context.principal();
    entry.time_created = context.stamp_ms();
    entry.comment = comment;
    return entry;
}

answer store_activity(rule_context& context, const activity& entry) {
    tables::activities::put(context.state, entry);
    return schemas::encode(entry);
}

/// Writes the transition's row, and its state into the activity that opened it.
void store_transition(rule_context& context, const transition_row& row) {
    const auto stored = tables::transitions::find(context.state, row.transition.id);
    HERALD_ASSERT(stored);
    tables::transitions::update(context.state, *stored, row);
    const auto before = tables::activities::find(context.state, row.transition.id);
    HERALD_ASSERT(before);
    activity opening = *before;
    opening.transition = row.transition;
    opening.activity_state = row.transition.state;
    tables::activities::update(context.state, *before, opening);
}

std::string state_text(const transition_row& row) {
    return "transition " + std::to_string(row.transition.id.value) + " is " +
           std::string(name_of(row.transition.state));
}

/// Only each user's latest review counts: any rejection rejects; enough approvals approve.
transition_state judged(const transition_row& row, const schemas::workspace_policies& policies) {
    std::uint32_t approvals = 0;
    for (const review& review : row.reviews) {
        if (!review.approve) return transition_state::rejected;
        ++approvals;
    }
    return approvals >= std::max(policies.approvals_required, 1u) ? transition_state::approved
                                                                  : transition_state::pending;
}

bool holds(const std::vector<stage>& stages, stage wanted) {
    return std::find(stages.begin(), stages.end(), wanted) != stages.end();
}

/// Judges the reviews again, by the present policies. Errors: failed_precondition.
result<void> check_approval(const opened_transition& opened) {
    const transition_row& row = opened.row;
    const schemas::workspace_policies& policies = opened.workspace.policies;
    if (row.transition.state == transition_state::closed ||
        row.transition.state == transition_state::committed)
        return runtime::failed_precondition(state_text(row) + "; only an open transition can be committed");
    const transition_state verdict = judged(row, policies);
    if (verdict == transition_state::rejected)
        return runtime::failed_precondition(state_text(row) + "; a rejected transition cannot be committed");
    const stage desired = row.transition.desired_stage;
    if (verdict == transition_state::approved || !holds(policies.require_approval_for, desired)) return {};
    return runtime::failed_precondition(state_text(row) +
                                        ", and the policy require_approval_for of the workspace \"" +
                                        opened.workspace.name + "\" holds " + std::string(name_of(desired)) +
                                        "; only an APPROVED transition can be committed");
}

result<void> check_scan_policy(const rule_context& context, const opened_transition& opened) {
    const stage desired = opened.row.transition.desired_stage;
    if (!holds(opened.workspace.policies.require_safe_scan_for, desired)) return {};
    if (find::has_safe_build(context.state, opened.version)) return {};
    return runtime::failed_precondition(
        "the policy require_safe_scan_for of the workspace \"" + opened.workspace.name + "\" holds " +
        std::string(name_of(desired)) + ": model version " + std::to_string(opened.version.id.value) +
        " needs a finished build whose newest scan is scanned and safe, and that was never reported unsafe");
}

/// A version that leaves PRODUCTION can no longer be promoted: a promotion in progress has failed.
void end_promotion(rule_context& context, const model_version& left) {
    const auto before = tables::promotions::find(context.state, left.id);
    if (!before || before->status != promotion_status::in_progress) return;
    promotion ended = *before;
    ended.status = promotion_status::failed;
    ended.reason = "the stage was changed from PRODUCTION to " + std::string(name_of(left.stage)) +
                   " before the promotion was complete";
    ended.time_completed = left.time_updated;
    tables::promotions::update(context.state, *before, ended);
}

/// Changes the stage. A change to PRODUCTION begins a promotion, and with it exactly one PROMOTE event id
/// (P2).
void commit_stage(rule_context& context, const opened_transition& opened) {
    model_version after = opened.version;
    after.stage = opened.row.transition.desired_stage;
    after.time_updated = context.stamp_ms();
    const bool promoted = after.stage == stage::production;
    if (promoted) after.redirect_metadata.clear();
    tables::versions::update(context.state, opened.version, after);
    if (promoted) {
        promotion row;
        row.model_version_id = after.id;
        row.status = promotion_status::in_progress;
        row.transition_id = opened.row.transition.id;
        row.requested_by = opened.row.author;
        for (const review& review : opened.row.reviews) row.approved_by.push_back(review.user);
        row.time_requested = opened.row.time_requested;
        row.time_committed = after.time_updated;
        if (is_flag_on(context.state, flag_name::promote_events)) {
            row.event_id = context.new_event_id();
            row.audience = emission::emit(
                context, {schemas::event_type::promote, schemas::resource_type::registered_model_version,
                          std::to_string(after.id.value), after.workspace_id, row.event_id,
                          [&](const emission::event_draft&) { return schemas::promote_body(after); }});
        }
        tables::promotions::put(context.state, row);
    } else if (opened.version.stage == stage::production) {
        end_promotion(context, after);
    }
    emission::emit_updated(context, schemas::resource_type::registered_model_version, after.id.value,
                           after.workspace_id, opened.version, after);
}

}  // namespace

/// Errors: not_found; permission_denied; invalid_argument for the stage or the comment; already_exists when a
/// transition to the stage is open.
answer apply(rule_context& context, const schemas::commands::create_transition& command) {
    const auto version = readable_version(context.state, context.principal(), command.model_version_id);
    if (!version) return version.error();
    if (const auto may = require(context.state, context.principal(), version->workspace,
                                 protected_type::registered_model, action::update, "model version");
        !may)
        return may.error();
    if (command.desired_stage == stage::unknown || name_of(command.desired_stage).empty())
        return runtime::invalid_argument(
            "desired_stage is UNKNOWN; it must be one of DEVELOPMENT STAGING PRODUCTION ARCHIVED UNASSIGNED");
    if (const auto good = check_text("comment", command.comment, limits::comment_bytes_max); !good)
        return good.error();

    // If the version is in that stage already, there is nothing to approve: only the activity remains.
    const bool is_there = version->row.stage == command.desired_stage;
    const auto first = tables::transitions::open_to(context.state, version->row.id, command.desired_stage);
    if (first && !is_there)
        return runtime::already_exists("transition " + std::to_string(first->value) + " of model version " +
                                       std::to_string(version->row.id.value) + " to " +
                                       std::string(name_of(command.desired_stage)) +
                                       " is open; commit or close it before another is created");

    activity entry = new_activity(context, version->row.id, command.comment);
    transition_row row;
    row.transition.id = entry.id;
    row.transition.source_stage = version->row.stage;
    row.transition.desired_stage = command.desired_stage;
    row.transition.state = is_there ? transition_state::closed : transition_state::pending;
    row.model_version_id = version->row.id;
    row.author = context.principal();
    row.time_requested = entry.time_created;
    tables::transitions::put(context.state, row);
    entry.transition = row.transition;
    entry.activity_state = row.transition.state;
    return store_activity(context, entry);
}

/// Errors: not_found; permission_denied, also for the transition's author; failed_precondition when it is
/// closed or committed.
answer apply(rule_context& context, const schemas::commands::review_transition& command) {
    auto opened = open_transition(context, command.transition_id, action::approve_reject);
    if (!opened) return opened.error();
    transition_row& row = opened->row;
    if (row.author == context.principal())
        return runtime::permission_denied("transition " + std::to_string(command.transition_id.value) +
                                          " was requested by you; somebody else must approve or reject it");
    if (row.transition.state == transition_state::closed ||
        row.transition.state == transition_state::committed)
        return runtime::failed_precondition(state_text(row) +
                                            "; only an open transition can be approved or rejected");
    if (const auto good = check_text("comment", command.comment, limits::comment_bytes_max); !good)
        return good.error();

    std::erase_if(row.reviews, [&](const review& review) { return review.user == context.principal(); });
    row.reviews.push_back({context.principal(), command.approve});
    if (const auto good = check_entity_size("the transition", schemas::encode(row)); !good)
        return good.error();
    row.transition.state = judged(row, opened->workspace.policies);
    store_transition(context, row);
    activity entry = new_activity(context, row.model_version_id, command.comment);
    (command.approve ? entry.approval : entry.rejection).emplace();
    entry.transition_id = row.transition.id;
    entry.activity_state = row.transition.state;
    return store_activity(context, entry);
}

/// Errors: not_found; permission_denied; failed_precondition when it is committed.
answer apply(rule_context& context, const schemas::commands::close_transition& command) {
    auto opened = open_transition(context, command.transition_id, action::update);
    if (!opened) return opened.error();
    transition_row& row = opened->row;
    if (row.transition.state == transition_state::committed)
        return runtime::failed_precondition(state_text(row) + "; it can no longer be closed");
    if (const auto good = check_text("comment", command.comment, limits::comment_bytes_max); !good)
        return good.error();
    row.transition.state = transition_state::closed;
    store_transition(context, row);
    activity entry = new_activity(context, row.model_version_id, command.comment);
    entry.close.emplace();
    entry.transition_id = row.transition.id;
    entry.activity_state = row.transition.state;
    return store_activity(context, entry);
}

/// Errors: not_found; permission_denied; failed_precondition when it is not open or a policy does not hold;
/// aborted when the version's stage has changed since.
answer apply(rule_context& context, const schemas::commands::commit_transition& command) {
    auto opened = open_transition(context, command.transition_id, action::update);
    if (!opened) return opened.error();
    transition_row& row = opened->row;
    if (const auto approved = check_approval(*opened); !approved) return approved.error();
    if (opened->version.stage != row.transition.source_stage)
        return runtime::aborted("the stage of model version " + std::to_string(opened->version.id.value) +
                                " is now " + std::string(name_of(opened->version.stage)) + ", not " +
                                std::string(name_of(row.transition.source_stage)) +
                                " as when the transition was created; close it and create a new one");
    if (const auto safe = check_scan_policy(context, *opened); !safe) return safe.error();
    if (const auto good = check_text("comment", command.comment, limits::comment_bytes_max); !good)
        return good.error();

    row.transition.state = transition_state::committed;
    store_transition(context, row);
    commit_stage(context, *opened);
    activity entry = new_activity(context, row.model_version_id, command.comment);
    entry.update.emplace().stage = row.transition.desired_stage;
    entry.transition_id = row.transition.id;
    entry.activity_state = row.transition.state;
    return store_activity(context, entry);
}

/// Errors: not_found; permission_denied; failed_precondition when none is in progress; invalid_argument.
answer apply(rule_context& context, const schemas::commands::fail_promotion& command) {
    const auto version = readable_version(context.state, context.principal(), command.model_version_id);
    if (!version) return version.error();
    if (const auto may = require(context.state, context.principal(), version->workspace,
                                 protected_type::registered_model, action::update, "model version");
        !may)
        return may.error();
    if (const auto good = check_text("reason", command.reason, limits::comment_bytes_max); !good)
        return good.error();
    auto row = tables::promotions::find(context.state, version->row.id).value_or(promotion{});
    if (row.status != promotion_status::in_progress)
        return runtime::failed_precondition("the promotion of model version " +
                                            std::to_string(version->row.id.value) + " is " +
                                            std::string(name_of(row.status)) + ", not IN_PROGRESS");
    row.status = promotion_status::failed;
    row.reason = command.reason;
    row.time_completed = context.stamp_ms();
    tables::promotions::put(context.state, row);
    return schemas::encode(row);
}

runner runner_of(schemas::commands::command_type type, schemas::commands::stage_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
