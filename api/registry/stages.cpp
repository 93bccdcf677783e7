// Stage transitions and promotions (wire.md "Stage transitions", "Promotion status").
#include <algorithm>

#include "api/registry/handlers.hpp"
#include "schemas/answers/stages.hpp"
#include "schemas/requests/stages.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/promotions.hpp"

namespace herald::api::registry {
namespace {

using calls::call;
using calls::response;
namespace answers = schemas::answers;
namespace requests = schemas::requests;
using schemas::promotion;

/// Every stage call answers {"activity": {…}}.
template <class Command>
response answer_activity(call& call, Command command) {
    const auto outcome = co_await call.submit(std::move(command));
    if (!outcome) co_return outcome.error();
    auto entry = schemas::decode<schemas::activity>(outcome->body);
    if (!entry) co_return entry.error();
    co_return call.answer(*outcome, answers::activity_answer{*std::move(entry)});
}

response review(call& call, bool approve) {
    auto body = call.body<requests::act_on_transition>();
    if (!body) co_return body.error();
    schemas::commands::review_transition command{body->transition_id, approve, std::move(body->comment)};
    co_return co_await answer_activity(call, std::move(command));
}

/// Closes or commits.
template <class Command>
response end_transition(call& call) {
    auto body = call.body<requests::act_on_transition>();
    if (!body) co_return body.error();
    Command command{body->transition_id, std::move(body->comment)};
    co_return co_await answer_activity(call, std::move(command));
}

}  // namespace

response create_transition(call& call) {
    auto body = call.body<requests::create_transition>();
    if (!body) co_return body.error();
    schemas::commands::create_transition command{body->model_version_id, body->desired_stage,
                                                 std::move(body->comment)};
    co_return co_await answer_activity(call, std::move(command));
}

response approve_transition(call& call) { return review(call, true); }
response reject_transition(call& call) { return review(call, false); }
response close_transition(call& call) { return end_transition<schemas::commands::close_transition>(call); }
response commit_transition(call& call) { return end_transition<schemas::commands::commit_transition>(call); }

calls::answered get_promotion(call& call) {
    const auto id = call.path_id<schemas::version_id>("version");
    if (!id) return id.error();
    const storage::registry::state::state_view& state = call.state();
    const auto version = storage::registry::access::readable_version(state, call.user().id, *id);
    if (!version) return version.error();
    const promotion row = storage::registry::find::promotion_of(state, *id);
    // The history knows the deliveries that had an attempt; the rest of the audience is still to come.
    storage::deliveries::delivery_counts deliveries =
        call.with().deliveries.deliveries_of_event(row.event_id);
    deliveries.pending =
        row.audience - std::min(row.audience, deliveries.succeeded + deliveries.dead + deliveries.skipped);
    answers::promotion answer = answers::of(row);
    const auto count = [](std::uint64_t number) { return static_cast<std::uint32_t>(number); };
    answer.deliveries = {count(deliveries.pending), count(deliveries.succeeded), count(deliveries.dead)};
    return call.answer(answer);
}

response fail_promotion(call& call) {
    const auto body = call.body<requests::fail_promotion>();
    if (!body) co_return body.error();
    const auto id = call.path_id<schemas::version_id>("version");
    if (!id) co_return id.error();
    schemas::commands::fail_promotion command{*id, body->reason};
    const auto outcome = co_await call.submit(std::move(command));
    if (!outcome) co_return outcome.error();
    auto row = schemas::decode<promotion>(outcome->body);
    if (!row) co_return row.error();
    co_return call.answer(*outcome, answers::of(*std::move(row)));
}

}  // namespace herald::api::registry
