// Deliveries that are sent again (wire.md §7 "Deliveries"): one at once, or several as a replay.
#include <utility>

#include "api/calls/await_callback.hpp"
#include "api/calls/handler.hpp"
#include "api/calls/rows.hpp"
#include "api/webhooks/delivery_view.hpp"
#include "api/webhooks/limits.hpp"
#include "api/webhooks/replay_view.hpp"
#include "api/webhooks/routes.hpp"
#include "api/webhooks/services.hpp"
#include "schemas/answers/replays.hpp"
#include "schemas/commands/deliveries.hpp"
#include "schemas/limits.hpp"
#include "schemas/requests/deliveries.hpp"
#include "storage/registry/find/event_subjects.hpp"
#include "storage/registry/find/webhooks.hpp"

namespace herald::api::webhooks {
namespace {

using namespace calls::rows;
using schemas::delivery_row;
namespace registry_find = storage::registry::find;

/// Decided in the log, then appended for a worker. A repeat under the same Idempotency-Key appends again.
calls::task<schemas::commands::outcome> resend(writing_call& call, const delivery_row& row) {
    schemas::commands::retry_delivery command{row.event_id, row.webhook_id};
    auto outcome = co_await call.submit(std::move(command));
    if (!outcome) co_return outcome;
    auto event = registry_find::find_event(call.state(), row.event_id);
    const auto hook = registry_find::find_webhook(call.state(), row.webhook_id);
    if (!event || !hook)
        co_return runtime::not_found({"the event of delivery \"", row.id, "\" is not kept any more"});
    schemas::delivery again = storage::deliveries::made_again(*std::move(event), *hook, &row);
    const auto start = [&](auto finished) {
        call.of<services>().sender.resend(std::move(again), std::move(finished));
    };
    const auto taken = co_await calls::await_callback<result<void>>(call.limit(), start);
    if (!taken)
        co_return runtime::unavailable(
            {"the log did not take the delivery: ", taken.error().message, "; repeat the request"});
    co_return outcome;
}

response retry_one(writing_call& call, const std::string& id) {
    const auto found = seen(call, id);
    if (!found) co_return found.error();
    const auto outcome = co_await resend(call, found->row);
    if (!outcome) co_return outcome.error();
    answers::sent_again answer;
    answer.call_id = found->row.id;
    answer.attempts_made = found->row.attempts;
    co_return call.answer(*outcome, answer);
}

result<filter_text> text_of(const requests::delivery_filter& asked) {
    filter_text text;
    if (asked.webhook_id) text.webhook_id = std::to_string(asked.webhook_id.value);
    text.event_id = asked.event_id;
    text.resource = asked.resource;
    text.event_type = asked.event_type;
    text.state = asked.state;
    text.error = asked.error;
    text.status = plain_text(asked.status);
    text.since = plain_text(asked.since);
    text.until = plain_text(asked.until);
    return text;
}

/// What the body asks to send. Errors: not_found; invalid_argument.
result<schemas::commands::begin_replay> replay_in(const writing_call& call,
                                                  const requests::retry_deliveries& body) {
    schemas::commands::begin_replay command;
    command.scope.only_undelivered = false;
    for (const std::string& id : body.ids) {
        const auto found = seen(call, id);
        if (!found) return found.error();
        command.scope.picked.push_back({found->row.event_id, found->row.webhook_id});
    }
    if (!body.filter) return command;
    const auto sight = sight_of(call, body.workspace_id);
    if (!sight) return sight.error();
    const auto text = text_of(*body.filter);
    if (!text) return text.error();
    auto filter = filter_of(sight->workspace().id, *text);
    if (!filter) return filter.error();
    command.workspace_id = sight->workspace().id;
    command.scope.filter = *std::move(filter);
    return command;
}

response retry_deliveries(writing_call& call, requests::retry_deliveries body) {
    if (body.ids.empty() == !body.filter)
        co_return runtime::invalid_argument(
            "give either ids or a filter: which deliveries are to be sent again");
    if (body.ids.size() > limits::deliveries_per_retry_max)
        co_return runtime::invalid_argument({"ids holds ", body.ids.size(), " deliveries; give at most ",
                                             limits::deliveries_per_retry_max, ", or a filter"});
    if (body.ids.size() == 1 && !body.dry_run) co_return co_await retry_one(call, body.ids.front());
    auto command = replay_in(call, body);
    if (!command) co_return command.error();
    if (body.dry_run) co_return co_await dry_run(call, *std::move(command));
    co_return co_await begin(call, *std::move(command));
}

response retrigger_webhook_call(writing_call& call, requests::retrigger_webhook_call body) {
    const auto found = seen(call, body.call_id);
    if (!found) co_return found.error();
    const auto outcome = co_await resend(call, found->row);
    if (!outcome) co_return outcome.error();
    co_return call.answer(*outcome, answers::retriggered_call{found->row.id});
}

const calls::route retry_table[] = {
    needing(on_models, action::update,
            act<retry_deliveries, answers::sent_again>(
                "retry_deliveries", "/api/v1/uac-proxy/events/deliveries/retry", "webhooks",
                "Sends deliveries again: one at once, several as a replay; those about an endpoint with "
                "DEPLOY on it")),
    needing(on_models, action::update,
            act<retrigger_webhook_call, answers::retriggered_call>(
                "retrigger_webhook_call", "/api/v1/uac-proxy/events/retriggerWebhookCall", "webhooks",
                "Sends a delivery again, at once")),
};

}  // namespace

std::span<const calls::route> retry_routes() { return retry_table; }

}  // namespace herald::api::webhooks
