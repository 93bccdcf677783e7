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

answered get_promotion(reading_call& call) {
    const auto id = call.path_id<schemas::version_id>("version");
    if (!id) return id.error();
    const storage::registry::state::state_view& state = call.state();
    const auto version = storage::registry::access::readable_version(state, call.user().id, *id);
    if (!version) return version.error();
    const promotion row = storage::registry::find::promotion_of(state, *id);
    const storage::deliveries::delivery_counts told =
        call.of<services>().deliveries.deliveries_of_event(row.event_id);
    // The history knows the deliveries that had an attempt. The rest of the audience is still to come, but
    // for events of an earlier generation: its history stayed behind.
    const std::uint64_t rest =
        row.audience - std::min(row.audience, told.succeeded + told.dead + told.skipped);
    const bool is_ours = row.event_id.starts_with(std::to_string(call.reading().generation) + "-");
    const auto count = [](std::uint64_t number) { return static_cast<std::uint32_t>(number); };
    answers::promotion answer = answers::of(row);
    answer.deliveries = {count(is_ours ? rest : 0), count(told.succeeded), count(told.dead),
                         count(is_ours ? 0 : rest)};
    return call.answer(answer);
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
    needing(
        on_models, action::update,
        write<fail_promotion, answers::promotion>("fail_promotion", http_method::post,
                                                  "/api/v1/registry/model_versions/{version}/promotion/fail",
                                                  "stages", "Ends a promotion as failed")),
};

}  // namespace

std::span<const calls::route> stage_routes() { return stage_table; }

}  // namespace herald::api::registry
