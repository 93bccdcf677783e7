// Stages: transitions, changes without one, comments, histories; promotions (wire.md "Stage transitions",
// "Promotion status").
#include <algorithm>

#include "api/calls/finding.hpp"
#include "api/calls/rows.hpp"
#include "api/registry/routes.hpp"
#include "api/registry/services.hpp"
#include "schemas/answers/stages.hpp"
#include "schemas/commands/stages.hpp"
#include "schemas/requests/stages.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/activities.hpp"
#include "storage/registry/find/records.hpp"
#include "storage/registry/find/transitions.hpp"

namespace herald::api::registry {
namespace {

using namespace calls::rows;
using schemas::promotion;

/// Every stage call answers {"activity": {…}}.
answers::activity_answer activity_answer(schemas::activity entry) { return {std::move(entry)}; }

response review(writing_call& call, bool approve) {
    auto body = call.body<requests::act_on_transition>();
    if (!body) co_return body.error();
    schemas::commands::review_transition command{body->transition_id, approve, std::move(body->comment)};
    co_return co_await call.write<schemas::activity>(std::move(command), activity_answer);
}

/// Closes or commits.
template <class Command>
response end_transition(writing_call& call) {
    auto body = call.body<requests::act_on_transition>();
    if (!body) co_return body.error();
    Command command{body->transition_id, std::move(body->comment)};
    co_return co_await call.write<schemas::activity>(std::move(command), activity_answer);
}

response create_transition(writing_call& call, requests::create_transition body) {
    schemas::commands::create_transition command{body.model_version_id, body.desired_stage,
                                                 std::move(body.comment)};
    co_return co_await call.write<schemas::activity>(std::move(command), activity_answer);
}

response approve_transition(writing_call& call) { return review(call, true); }
response reject_transition(writing_call& call) { return review(call, false); }
response close_transition(writing_call& call) {
    return end_transition<schemas::commands::close_transition>(call);
}
response commit_transition(writing_call& call) {
    return end_transition<schemas::commands::commit_transition>(call);
}

response update_stage(writing_call& call, requests::update_stage body) {
    schemas::commands::update_stage command{body.model_version_id, body.stage, std::move(body.comment)};
    co_return co_await call.write<schemas::activity>(std::move(command), activity_answer);
}

response create_comment(writing_call& call, requests::create_comment body) {
    schemas::commands::create_comment command{body.model_version_id, std::move(body.comment)};
    co_return co_await call.write<schemas::activity>(std::move(command), activity_answer);
}

constexpr auto as_it_is = [](schemas::activity row) { return row; };

slicing find_activities(reading_call& call, requests::find_activities body) {
    return calls::answer_in_slices<answers::activities>(
        call,
        storage::registry::find::search_activities(
            call.state(), call.user().id, {body.registered_model_id, body.model_version_id}, body.pagination),
        as_it_is);
}

slicing find_transitions(reading_call& call, requests::find_transitions body) {
    for (const schemas::transition_state each : body.state)
        if (each == schemas::transition_state::unknown)
            return runtime::invalid_argument(
                "state holds UNKNOWN; each must be one of PENDING APPROVED REJECTED CLOSED COMMITTED");
    return calls::answer_in_slices<answers::activities>(
        call,
        storage::registry::find::search_transitions(
            call.state(), call.user().id, {body.registered_model_id, body.model_version_id},
            {body.state, body.mine, body.waiting_for_me}, body.pagination),
        as_it_is);
}

answers::promotion with_deliveries(reading_call& call, const promotion& row) {
    const storage::deliveries::delivery_counts told =
        call.of<services>().deliveries.deliveries_of_event(row.event_id);
    // The history knows the deliveries that had an attempt. The rest of the audience is still to come, but
    // for events of an earlier generation: its history stayed behind.
    const std::uint64_t rest =
        row.audience - std::min(row.audience, told.succeeded + told.dead + told.skipped);
    const bool is_ours = row.event_id.starts_with(std::to_string(call.reading().generation) + "-");
    const auto count = [](std::uint64_t number) { return static_cast<std::uint32_t>(number); };
    answers::promotion answer = answers::of(row);
    if (row.status == schemas::promotion_status::in_progress && row.time_due > 0)
        answer.time_due = row.time_due;
    answer.deliveries = {count(is_ours ? rest : 0), count(told.succeeded), count(told.dead),
                         count(is_ours ? 0 : rest)};
    return answer;
}

answered get_promotion(reading_call& call) {
    const auto id = call.path_id<schemas::version_id>("version");
    if (!id) return id.error();
    const storage::registry::state::state_view& state = call.state();
    const auto version = storage::registry::access::readable_version(state, call.user().id, *id);
    if (!version) return version.error();
    return call.answer(with_deliveries(call, storage::registry::find::promotion_of(state, *id)));
}

/// One page: the newest.
answered list_promotions(reading_call& call) {
    const std::string name = call.path("workspace");
    const auto status = calls::named_in_query<schemas::promotion_status>(call, "status");
    if (!status) return status.error();
    const auto workspace = storage::registry::access::workspace_named(call.state(), name);
    if (!workspace) return workspace.error();
    if (const auto may = storage::registry::access::require_in(
            call.state(), call.user().id, *workspace, on_models, action::read, "workspace \"" + name + "\"");
        !may)
        return may.error();
    answers::listed_promotions answer;
    for (auto& each : storage::registry::find::newest_promotions(call.state(), workspace->id, *status,
                                                                 limits::promotions_shown_max))
        answer.records.push_back(
            {with_deliveries(call, each.row), std::move(each.model_name), std::move(each.version)});
    answer.total_records = answer.records.size();
    return call.answer(answer);
}

answered get_readiness_for_stage(reading_call& call) {
    const auto id = call.path_id<schemas::version_id>("version");
    if (!id) return id.error();
    const auto desired = calls::named_in_query<schemas::stage>(call, "stage");
    if (!desired) return desired.error();
    const storage::registry::state::state_view& state = call.state();
    const auto version = storage::registry::access::readable_version(state, call.user().id, *id);
    if (!version) return version.error();
    auto found = storage::registry::find::readiness_for(state, call.user().id, *version, desired->value());
    return call.answer(answers::readiness_for_stage{
        **desired, found.approvals_required, std::move(found.reviewed.approved_by),
        found.reviewed.has_outdated, std::move(found.reviewers), found.needs_safe_scan, found.has_safe_scan});
}

response fail_promotion(writing_call& call, requests::fail_promotion body) {
    const auto id = call.path_id<schemas::version_id>("version");
    if (!id) co_return id.error();
    schemas::commands::fail_promotion command{*id, body.reason};
    const auto view = [](promotion row) { return answers::of(std::move(row)); };
    co_return co_await call.write<promotion>(std::move(command), view);
}

/// Reviewers comment without UPDATE.
constexpr calls::route needing_update_or_review(calls::route row) {
    row.right = {on_models, action::update, action::approve_reject};
    return row;
}

constexpr calls::query_parameter of_status[]{{"status", "IN_PROGRESS, COMPLETE or FAILED", false, false}};
constexpr calls::query_parameter of_stage[]{{"stage", "the stage that the version would get"}};

const calls::route stage_table[] = {
    needing(on_models, action::update,
            write<create_transition, answers::activity_answer>("create_transition", http_method::post,
                                                               "/api/v1/registry/stage/createTransition",
                                                               "stages", "Asks for a stage change")),
    needing(on_models, action::approve_reject,
            write<requests::act_on_transition, answers::activity_answer>(
                "approve_transition", http_method::post, "/api/v1/registry/stage/approveTransition",
                approve_transition, "stages", "Approves; never one's own")),
    needing(on_models, action::approve_reject,
            write<requests::act_on_transition, answers::activity_answer>(
                "reject_transition", http_method::post, "/api/v1/registry/stage/rejectTransition",
                reject_transition, "stages", "Rejects; never one's own")),
    needing(on_models, action::update,
            write<requests::act_on_transition, answers::activity_answer>(
                "close_transition", http_method::post, "/api/v1/registry/stage/closeTransition",
                close_transition, "stages", "Withdraws a transition")),
    needing(on_models, action::update,
            write<requests::act_on_transition, answers::activity_answer>(
                "commit_transition", http_method::post, "/api/v1/registry/stage/commitTransition",
                commit_transition, "stages",
                "Changes the stage; to PRODUCTION a promotion begins and PROMOTE is sent")),
    needing(on_models, action::update,
            write<update_stage, answers::activity_answer>(
                "update_stage", http_method::post, "/api/v1/registry/stage/updateStage", "stages",
                "Changes the stage at once, where no approval is needed")),
    needing_update_or_review(write<create_comment, answers::activity_answer>(
        "create_comment", http_method::post, "/api/v1/registry/stage/createComment", "stages",
        "Adds a comment to the stage history")),
    needing(on_models, action::read,
            find<find_activities, answers::activities>(
                "find_activities", "/api/v1/registry/stage/findActivities", "stages",
                "The stage history of a version, or of all of a model, oldest first")),
    find<find_transitions, answers::activities>(
        "find_transitions", "/api/v1/registry/stage/findTransitions", "stages",
        "The entries that asked for transitions, oldest first, with how those stand now"),
    needing(on_models, action::read,
            read<answers::promotion>("get_promotion", "/api/v1/registry/model_versions/{version}/promotion",
                                     get_promotion, "stages", "Where the promotion stands")),
    needing(on_models, action::read,
            list<answers::listed_promotions>(
                "list_promotions", "/api/v1/registry/workspaces/{workspace}/promotions", list_promotions,
                "stages", "Promotions of the versions in production, of up to 100 that were changed last",
                of_status)),
    needing(on_models, action::read,
            list<answers::readiness_for_stage>(
                "get_readiness_for_stage", "/api/v1/registry/model_versions/{version}/readiness",
                get_readiness_for_stage, "stages",
                "What a change of the version's stage needs, and what of that is there", of_stage)),
    needing(
        on_models, action::update,
        write<fail_promotion, answers::promotion>("fail_promotion", http_method::post,
                                                  "/api/v1/registry/model_versions/{version}/promotion/fail",
                                                  "stages", "Ends a promotion as failed")),
};

}  // namespace

std::span<const calls::route> stage_routes() { return stage_table; }

}  // namespace herald::api::registry
