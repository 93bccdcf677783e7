// Stages: transitions, requested, reviewed by somebody else, committed; changes without one; comments; the
// end of promotions (wire.md "Stage transitions").

#include "storage/registry/tables/stages.hpp"
#include "runtime/assert.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/history.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/rules/stage_changes.hpp"
#include "storage/registry/rules/transition_events.hpp"

namespace herald::storage::registry::rules {
namespace {

using access::placed;
using access::readable_version;
using access::require;
using schemas::activity;
using schemas::model_version;
using schemas::promotion;
using schemas::promotion_status;
using schemas::stage;
using schemas::transition_state;
using tables::review;
using tables::transition_row;

/// A transition with its version and workspace, which the caller may read and act on.
struct opened_transition {
    transition_row row;
    placed<model_version> of;
};

/// Errors: not_found; permission_denied.
result<opened_transition> open_transition(const rule_context& context, schemas::activity_id id,
                                          action wanted) {
    const std::string what = "transition " + std::to_string(id.value);
    auto row = tables::transitions::find(context.state, id);
    if (!row) return runtime::not_found({what, " not found"});
    auto version = readable_version(context.state, context.principal(), row->model_version_id);
    if (!version) return runtime::not_found({what, " not found"});
    if (const auto may = require(context.state, context.principal(), version->workspace,
                                 protected_type::registered_model, wanted, what);
        !may)
        return may.error();
    return opened_transition{*std::move(row), *std::move(version)};
}

/// A version that the caller may read and change. Errors: not_found; permission_denied.
result<placed<model_version>> version_to_change(const rule_context& context, schemas::version_id id) {
    auto version = readable_version(context.state, context.principal(), id);
    if (!version) return version.error();
    if (const auto may = require(context.state, context.principal(), version->workspace,
                                 protected_type::registered_model, action::update, "model version");
        !may)
        return may.error();
    return version;
}

activity new_activity(rule_context& context, schemas::version_id version, const std::string& comment) {
    return rules::new_activity(context, version, context.principal(), comment);
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

wanted_change change_of(const opened_transition& opened) {
    return {opened.of, opened.row.transition.desired_stage, &opened.row};
}

/// Changes the stage and ends the transition; the entry of the commit is returned.
activity commit(rule_context& context, opened_transition& opened, const permitted_change& change,
                schemas::user_id author, const std::string& comment) {
    transition_row& row = opened.row;
    row.transition.state = transition_state::committed;
    store_transition(context, row);
    make(context, change);
    activity entry = rules::new_activity(context, row.model_version_id, author, comment);
    entry.update.emplace().stage = row.transition.desired_stage;
    entry.transition_id = row.transition.id;
    entry.activity_state = row.transition.state;
    tell_transition(context, {transition_step::committed, row, opened.of.row, author, comment});
    return entry;
}

/// By the policy commit_on_approve: the approval commits in the name of the user who asked for the
/// transition, as if they did it now. Returns why it does not; empty when it did.
std::string commit_on_approve(rule_context& context, opened_transition& opened) {
    const transition_row& row = opened.row;
    if (row.transition.state != transition_state::approved) return state_text(row) + " and not yet APPROVED";
    if (!access::is_allowed(context.state, row.author, opened.of.workspace, protected_type::registered_model,
                            action::update))
        return "user " + std::to_string(row.author.value) + ", who asked for transition " +
               std::to_string(row.transition.id.value) + ", may no longer change the model version";
    const auto permitted = permit(context, change_of(opened));
    if (!permitted) return permitted.error().message;
    tables::activities::put(context.state, commit(context, opened, *permitted, row.author, {}));
    return {};
}

/// Errors: invalid_argument.
result<void> check_stage(std::string_view field, stage desired) {
    if (desired != stage::unknown && !name_of(desired).empty()) return {};
    return runtime::invalid_argument(
        {field, " is UNKNOWN; it must be one of DEVELOPMENT STAGING PRODUCTION ARCHIVED UNASSIGNED"});
}

}  // namespace

/// Errors: not_found; permission_denied; invalid_argument for the stage or the comment; already_exists when a
/// transition to the stage is open; failed_precondition when nobody could approve it.
answer apply(rule_context& context, const schemas::commands::create_transition& command) {
    const auto version = version_to_change(context, command.model_version_id);
    if (!version) return version.error();
    if (const auto good = check_stage("desired_stage", command.desired_stage); !good) return good.error();
    if (const auto good = check_text("comment", command.comment, limits::comment_bytes_max); !good)
        return good.error();

    // If the version is in that stage already, there is nothing to approve: only the activity remains.
    const bool is_there = version->row.stage == command.desired_stage;
    const auto first = tables::transitions::open_to(context.state, version->row.id, command.desired_stage);
    if (first && !is_there)
        return runtime::already_exists({"transition ", first->value, " of model version ",
                                        version->row.id.value, " to ", name_of(command.desired_stage),
                                        " is open; commit or close it before another is created"});
    if (!is_there && is_approved_by_nobody(version->workspace, command.desired_stage))
        return runtime::failed_precondition(
            {"no transition is created: ", take_policy_back(version->workspace, command.desired_stage)});

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
    if (!is_there)
        tell_transition(context,
                        {transition_step::requested, row, version->row, row.author, command.comment});
    return store_activity(context, entry);
}

/// Errors: not_found; permission_denied, also for the transition's author; failed_precondition when it is
/// closed or committed.
answer apply(rule_context& context, const schemas::commands::review_transition& command) {
    auto opened = open_transition(context, command.transition_id, action::approve_reject);
    if (!opened) return opened.error();
    transition_row& row = opened->row;
    if (row.author == context.principal())
        return runtime::permission_denied({"transition ", command.transition_id.value,
                                           " was requested by you; somebody else must approve or reject it"});
    if (const auto good = check_text("comment", command.comment, limits::comment_bytes_max); !good)
        return good.error();
    if (row.transition.state == transition_state::closed ||
        row.transition.state == transition_state::committed)
        return runtime::failed_precondition(
            {state_text(row), "; only an open transition can be approved or rejected"});

    std::erase_if(row.reviews, [&](const review& review) { return review.user == context.principal(); });
    row.reviews.push_back({context.principal(), command.approve, context.stamp_ms()});
    if (const auto good = check_entity_size("the transition", schemas::encode(row)); !good)
        return good.error();
    row.transition.state = find::judge(context.state, row, opened->of).state;
    store_transition(context, row);
    activity entry = new_activity(context, row.model_version_id, command.comment);
    (command.approve ? entry.approval : entry.rejection).emplace();
    entry.transition_id = row.transition.id;
    const auto step = command.approve ? transition_step::approved : transition_step::rejected;
    tell_transition(context, {step, row, opened->of.row, context.principal(), command.comment});
    if (command.approve && opened->of.workspace.policies.commit_on_approve)
        entry.message = commit_on_approve(context, *opened);
    entry.activity_state = row.transition.state;
    return store_activity(context, entry);
}

/// Errors: not_found; permission_denied; failed_precondition when it is committed.
answer apply(rule_context& context, const schemas::commands::close_transition& command) {
    auto opened = open_transition(context, command.transition_id, action::update);
    if (!opened) return opened.error();
    transition_row& row = opened->row;
    if (const auto good = check_text("comment", command.comment, limits::comment_bytes_max); !good)
        return good.error();
    if (row.transition.state == transition_state::committed)
        return runtime::failed_precondition({state_text(row), "; it can no longer be closed"});
    const bool was_open = row.transition.state != transition_state::closed;
    row.transition.state = transition_state::closed;
    store_transition(context, row);
    activity entry = new_activity(context, row.model_version_id, command.comment);
    entry.close.emplace();
    entry.transition_id = row.transition.id;
    entry.activity_state = row.transition.state;
    if (was_open)
        tell_transition(context,
                        {transition_step::closed, row, opened->of.row, context.principal(), command.comment});
    return store_activity(context, entry);
}

/// Errors: not_found; permission_denied; failed_precondition when it is not open or a policy does not hold;
/// aborted when the version's stage has changed since.
answer apply(rule_context& context, const schemas::commands::commit_transition& command) {
    auto opened = open_transition(context, command.transition_id, action::update);
    if (!opened) return opened.error();
    if (const auto good = check_text("comment", command.comment, limits::comment_bytes_max); !good)
        return good.error();
    const auto permitted = permit(context, change_of(*opened));
    if (!permitted) return permitted.error();
    return store_activity(context,
                          commit(context, *opened, *permitted, context.principal(), command.comment));
}

/// To the stage that the version is in already, only the entry is made. Errors: not_found;
/// permission_denied, also for a stage that needs approval; invalid_argument for the stage or the comment;
/// failed_precondition without a safe scan where the stage needs one.
answer apply(rule_context& context, const schemas::commands::update_stage& command) {
    const auto version = version_to_change(context, command.model_version_id);
    if (!version) return version.error();
    if (const auto good = check_stage("stage", command.stage); !good) return good.error();
    if (const auto good = check_text("comment", command.comment, limits::comment_bytes_max); !good)
        return good.error();
    if (version->row.stage != command.stage) {
        const auto permitted = permit(context, {*version, command.stage});
        if (!permitted) return permitted.error();
        make(context, *permitted);
    }
    activity entry = new_activity(context, version->row.id, command.comment);
    entry.update.emplace().stage = command.stage;
    return store_activity(context, entry);
}

/// Errors: not_found; permission_denied; invalid_argument.
answer apply(rule_context& context, const schemas::commands::create_comment& command) {
    const auto version =
        access::readable_version(context.state, context.principal(), command.model_version_id);
    if (!version) return version.error();
    const auto may = [&](schemas::action what) {
        return access::is_allowed(context.state, context.principal(), version->workspace,
                                  schemas::protected_type::registered_model, what);
    };
    if (!may(schemas::action::update) && !may(schemas::action::approve_reject))
        return runtime::permission_denied(
            {"a comment needs the permission UPDATE or APPROVE_REJECT on REGISTERED_MODEL in the workspace "
             "\"",
             version->workspace.name, "\""});
    if (command.comment.empty()) return runtime::invalid_argument("comment is empty; it must say something");
    if (const auto good = check_text("comment", command.comment, limits::comment_bytes_max); !good)
        return good.error();
    return store_activity(context, new_activity(context, version->row.id, command.comment));
}

/// Errors: not_found; permission_denied; failed_precondition when none is in progress; invalid_argument.
answer apply(rule_context& context, const schemas::commands::fail_promotion& command) {
    const auto version = version_to_change(context, command.model_version_id);
    if (!version) return version.error();
    if (const auto good = check_text("reason", command.reason, limits::comment_bytes_max); !good)
        return good.error();
    auto row = tables::promotions::find(context.state, version->row.id).value_or(promotion{});
    if (row.status != promotion_status::in_progress)
        return runtime::failed_precondition({"the promotion of model version ", version->row.id.value, " is ",
                                             name_of(row.status), ", not IN_PROGRESS"});
    row.status = promotion_status::failed;
    row.reason = command.reason;
    row.time_completed = context.stamp_ms();
    tables::promotions::put(context.state, row);
    cancel_deadline(context, row);
    return schemas::encode(row);
}

runner runner_of(schemas::commands::command_type type, schemas::commands::stage_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
