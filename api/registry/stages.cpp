// Stage transitions and promotions (wire.md "Stage transitions", "Promotion status").
#include <algorithm>

#include "api/registry/handlers.hpp"
#include "schemas/views.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/promotions.hpp"

namespace herald::api::registry {
namespace {

using calls::call;
using calls::response;
using schemas::activity;
using schemas::object_writer;
using schemas::promotion;

/// Every stage call answers {"activity": {…}}.
template <class Command>
response answer_activity(call& call, Command command) {
    const auto outcome = co_await call.submit(std::move(command));
    if (!outcome) co_return outcome.error();
    const auto entry = schemas::decode<activity>(outcome->body);
    if (!entry) co_return entry.error();
    co_return call.answer(*outcome, object_writer().raw("activity", schemas::view_of(*entry)).finish());
}

template <class Command>
response act(call& call) {
    auto command = call.body<Command>();
    if (!command) co_return command.error();
    co_return co_await answer_activity(call, *std::move(command));
}

struct review_body {
    schemas::activity_id transition_id;
    std::string comment;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "transition_id", self.transition_id);
        field(2, "comment", self.comment);
    }
};

struct fail_body {
    std::string reason;
    static constexpr void describe(auto& self, auto&& field) { field(1, "reason", self.reason); }
};

response review(call& call, bool approve) {
    const auto body = call.body<review_body>();
    if (!body) co_return body.error();
    schemas::commands::review_transition command{body->transition_id, approve, body->comment};
    co_return co_await answer_activity(call, std::move(command));
}

std::string promotion_view(const promotion& row, const storage::deliveries::delivery_counts& deliveries) {
    return object_writer()
        .members_of(schemas::to_json_object(row, schemas::integers::as_strings))
        .raw("deliveries", object_writer()
                               .number("pending", deliveries.pending)
                               .number("succeeded", deliveries.succeeded)
                               .number("dead", deliveries.dead)
                               .finish())
        .finish();
}

}  // namespace

response create_transition(call& call) { return act<schemas::commands::create_transition>(call); }
response approve_transition(call& call) { return review(call, true); }
response reject_transition(call& call) { return review(call, false); }
response close_transition(call& call) { return act<schemas::commands::close_transition>(call); }
response commit_transition(call& call) { return act<schemas::commands::commit_transition>(call); }

calls::answered get_promotion(call& call) {
    const auto id = call.path_id<schemas::version_id>("version");
    if (!id) return id.error();
    const storage::registry::state::state_view& state = call.state();
    const auto version = storage::registry::access::readable_version(state, call.user().id, *id);
    if (!version) return version.error();
    const promotion row = storage::registry::find::promotion_of(state, *id);
    // The delivery log knows the deliveries that had an attempt; the rest of the audience is still to come.
    storage::deliveries::delivery_counts deliveries =
        call.with().deliveries.deliveries_of_event(row.event_id);
    deliveries.pending =
        row.audience - std::min(row.audience, deliveries.succeeded + deliveries.dead + deliveries.skipped);
    return call.answer(promotion_view(row, deliveries));
}

response fail_promotion(call& call) {
    const auto body = call.body<fail_body>();
    if (!body) co_return body.error();
    const auto id = call.path_id<schemas::version_id>("version");
    if (!id) co_return id.error();
    schemas::commands::fail_promotion command{*id, body->reason};
    const auto outcome = co_await call.submit(std::move(command));
    if (!outcome) co_return outcome.error();
    const auto row = schemas::decode<promotion>(outcome->body);
    if (!row) co_return row.error();
    co_return call.answer(*outcome, schemas::to_json_object(*row, schemas::integers::as_strings));
}

}  // namespace herald::api::registry
