// What became of deliveries (wire.md §7 "Deliveries"): lists, one in full, what an event was, what was given
// up.
#include "schemas/answers/deliveries.hpp"

#include <algorithm>

#include "api/calls/handler.hpp"
#include "api/calls/rows.hpp"
#include "api/webhooks/delivery_view.hpp"
#include "api/webhooks/limits.hpp"
#include "api/webhooks/routes.hpp"
#include "api/webhooks/services.hpp"
#include "runtime/text.hpp"
#include "schemas/limits.hpp"
#include "storage/deliveries/limits.hpp"
#include "storage/registry/find/event_subjects.hpp"
#include "storage/registry/find/webhooks.hpp"

namespace herald::api::webhooks {
namespace {

using namespace calls::rows;
using schemas::delivery_filter;
using schemas::delivery_row;
using schemas::delivery_state;
using storage::deliveries::delivery_place;
namespace registry_find = storage::registry::find;

constexpr std::int64_t histogram_ms_default = 24ll * 3'600'000;

result<std::uint64_t> number_in(const reading_call& call, std::string_view name, std::uint64_t otherwise,
                                std::uint64_t most) {
    const std::string text = call.query(name);
    if (text.empty()) return otherwise;
    const auto number = runtime::parse_plain_decimal(text);
    if (number && *number <= most) return *number == 0 ? otherwise : *number;
    return runtime::invalid_argument({name, " is \"", text, "\"; it must be a number up to ", most});
}

filter_text filter_in_query(const reading_call& call) {
    return {call.query("webhook_id"), call.query("event_id"), call.query("resource"),
            call.query("event_type"), call.query("state"),    call.query("error"),
            call.query("status"),     call.query("since"),    call.query("until")};
}

void add_histogram(const reading_call& call, const delivery_sight& sight, const delivery_filter& filter,
                   std::size_t steps, answers::delivery_list& answer) {
    storage::deliveries::histogram_question asked{filter, steps, sight.judge()};
    if (asked.filter.until_ms == INT64_MAX) asked.filter.until_ms = call.with().clock.wall_ms();
    if (asked.filter.since_ms == 0)
        asked.filter.since_ms = std::max<std::int64_t>(0, asked.filter.until_ms - histogram_ms_default);
    const auto counted = call.of<services>().history.histogram(asked);
    answer.histogram.emplace();
    for (const auto& each : counted.steps) {
        const auto of = [&](delivery_state state) { return each.of_state[static_cast<std::size_t>(state)]; };
        answer.histogram->push_back({time_text(each.from_ms), of(delivery_state::delivered),
                                     of(delivery_state::waiting), of(delivery_state::dead),
                                     of(delivery_state::held), of(delivery_state::skipped)});
    }
    answer.histogram_is_partial = counted.is_partial;
}

answered list_deliveries(reading_call& call) {
    const auto sight = sight_of(call);
    if (!sight) return sight.error();
    const auto filter = filter_of(sight->workspace().id, filter_in_query(call));
    if (!filter) return filter.error();
    const auto limit =
        number_in(call, "page_limit", limits::deliveries_per_page_default, limits::deliveries_per_page_max);
    if (!limit) return limit.error();
    const auto steps = number_in(call, "histogram", 0, limits::histogram_steps_max);
    if (!steps) return steps.error();
    const auto after = place_in(call.query("page_token"));
    if (!after) return after.error();
    const storage::deliveries::delivery_history& history = call.of<services>().history;
    const auto page = history.list({*filter, *after, *limit, true, sight->judge()});
    answers::delivery_list answer;
    delivery_view view(call, sight->sees_all());
    for (const delivery_row& row : page.rows) answer.deliveries.push_back(view.entry(row));
    answer.total_records = page.total;
    answer.total_is_at_least = page.total_is_at_least;
    if (page.next) answer.next_page_token = token_of(*page.next);
    if (*steps != 0) add_histogram(call, *sight, *filter, *steps, answer);
    answer.complete_from = time_text(history.complete_from_ms());
    answer.bodies_kept_from = time_text(history.bodies_kept_from_ms());
    return call.answer(answer);
}

/// The attempts to come, if all of them fail; jitter may make each wait longer.
std::vector<answers::scheduled_attempt> schedule_of(const reading_call& call, const delivery_row& row) {
    std::vector<answers::scheduled_attempt> found;
    if (row.state != delivery_state::waiting || row.next_attempt_ms == 0) return found;
    const auto waits = retry_schedule_of(registry_find::find_webhook(call.state(), row.webhook_id));
    std::int64_t time_ms = row.next_attempt_ms;
    std::uint32_t number = row.attempts + 1;
    found.push_back({number, time_text(time_ms)});
    for (std::size_t i = row.attempts; i < waits.size(); ++i)
        found.push_back({++number, time_text(time_ms += waits[i])});
    return found;
}

/// `reason`: why it ended, as the worker said; empty for a caller who may not see that.
void say(const delivery_row& row, const std::string& reason, answers::delivery_in_full& answer) {
    const answers::delivery_words words = answers::words_about(row.last_error, row.last_status);
    answer.advice = words.advice;
    const std::string because = reason.empty() ? "." : ": " + reason + ".";
    switch (row.state) {
        case delivery_state::delivered:
            answer.sentence = words.sentence;
            break;
        case delivery_state::waiting:
            answer.sentence = row.last_ms == 0 ? "It waits for its first attempt."
                                               : words.sentence + " It will be sent again.";
            if (row.last_ms == 0) answer.advice = "If it stays so, check that a worker runs.";
            break;
        case delivery_state::dead:
            answer.sentence = (row.attempts == 0 ? "" : words.sentence + " ") + "It was given up" + because;
            answer.advice += (answer.advice.empty() ? "" : " ") + std::string("Then send it again.");
            break;
        case delivery_state::held:
            answer.sentence = "It was kept because the webhook was disabled.";
            answer.advice = "Enable the webhook, then replay what it missed.";
            break;
        case delivery_state::skipped:
            answer.sentence = "It was not sent" + because;
            answer.advice.clear();
            break;
    }
}

answered get_delivery(reading_call& call) {
    const auto found = seen(call, call.path("delivery"));
    if (!found) return found.error();
    const bool in_full = found->sight.sees_all();
    delivery_view view(call, in_full);
    answers::delivery_in_full answer;
    answer.core = view.core(found->row);
    answer.attempts = view.attempts(found->row.id);
    answer.schedule = schedule_of(call, found->row);
    say(found->row, in_full ? found->row.last_message : std::string(), answer);
    return call.answer(answer);
}

answered get_event(reading_call& call) {
    const std::string id = call.query("event_id");
    const error absent = runtime::not_found({"event \"", id, "\" not found; events are kept for 30 days"});
    const auto event = registry_find::find_event(call.state(), id);
    if (!event) return absent;
    const auto sight = sight_of(call, event->workspace_id);
    if (!sight || !sight->sees(event->resource_type, event->resource_id)) return absent;
    answers::event_in_full answer;
    answer.event_id = event->id;
    answer.event_type = event->type;
    answer.resource = resource_text(event->resource_type, event->resource_id);
    delivery_view view(call, sight->sees_all());
    answer.subject = view.subject(event->resource_type, event->resource_id);
    answer.time_event = time_text(event->time_ms);
    answer.cause = {registry_find::who_caused(call.state(), *event), event->request_id, event->traceparent,
                    event->offset};
    answer.content_type = "application/json";
    if (sight->sees_all()) answer.body = event->body;
    for (const schemas::audience_member& member : event->audience) {
        answers::event_listener listener;
        listener.webhook = view.webhook(member.webhook_id);
        listener.held = member.held;
        listener.delivery_id = schemas::delivery_id(event->id, member.webhook_id);
        if (const auto row = call.of<services>().history.find(listener.delivery_id))
            listener.state = row->state;
        answer.audience.push_back(std::move(listener));
    }
    return call.answer(answer);
}

answered list_dead(reading_call& call) {
    const auto sight = sight_of(call);
    if (!sight) return sight.error();
    const auto found = call.of<services>().history.groups_of_dead(sight->workspace().id, sight->judge());
    delivery_view view(call, sight->sees_all());
    answers::dead_list answer;
    for (const auto& each : found.groups)
        answer.groups.push_back({view.webhook(each.webhook_id), each.error, each.status, each.count,
                                 time_text(each.first_ms), time_text(each.last_ms), each.example});
    answer.total_records = answer.groups.size();
    answer.is_partial = found.is_partial;
    return call.answer(answer);
}

constexpr calls::query_parameter of_workspace{
    "workspace_id", "id of the workspace; without it the caller's default workspace", true, false};

constexpr calls::query_parameter list_filters[]{
    of_workspace,
    {"webhook_id", "only of this webhook", true, false},
    {"event_id", "only of this event", false, false},
    {"resource", "only about this: model/ID, version/ID, build/ID or endpoint/ID", false, false},
    {"event_type", "only of events of this type", false, false},
    {"state", "waiting, delivered, dead, held or skipped; several with commas", false, false},
    {"error", "only where the last attempt ended with this class of error", false, false},
    {"status", "only where the receiver answered this last: 404, 4xx, or none for no answer", false, false},
    {"since", "only of events of this time or later: ISO 8601 or milliseconds since the epoch", false, false},
    {"until", "only of events before this time", false, false},
    {"histogram", "how many steps of time to count, up to 96; without since the last 24 hours", true, false},
    {"page_limit", "how many, up to 1000; without it 50", true, false},
    {"page_token", "next_page_token of an earlier answer", false, false},
};
constexpr calls::query_parameter dead_of_workspace[]{of_workspace};
constexpr calls::query_parameter which_event[]{{"event_id", "id of the event"}};

const calls::route delivery_table[] = {
    needing_read_of_either(list<answers::delivery_list>(
        "list_deliveries", "/api/v1/uac-proxy/events/deliveries", list_deliveries, "webhooks",
        "Lists deliveries, newest event first", list_filters)),
    needing_read_of_either(list<answers::dead_list>(
        "list_dead_deliveries", "/api/v1/uac-proxy/events/deliveries/dead", list_dead, "webhooks",
        "Groups the deliveries that were given up, by webhook and reason", dead_of_workspace)),
    needing_read_of_either(list<answers::event_in_full>(
        "get_event", "/api/v1/uac-proxy/events/deliveries/event", get_event, "webhooks",
        "Gets an event: what it said, what caused it, who was to hear it", which_event)),
    needing_read_of_either(list<answers::delivery_in_full>(
        "get_delivery", "/api/v1/uac-proxy/events/deliveries/{delivery}", get_delivery, "webhooks",
        "Gets a delivery with all its attempts, and says what to do")),
};

}  // namespace

std::span<const calls::route> delivery_routes() { return delivery_table; }

}  // namespace herald::api::webhooks
