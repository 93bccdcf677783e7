// Deliveries under the names of the published interface (wire.md §7 "findWebhookCall").
#include <algorithm>
#include <map>

#include "api/calls/handler.hpp"
#include "api/calls/rows.hpp"
#include "api/webhooks/delivery_view.hpp"
#include "api/webhooks/limits.hpp"
#include "api/webhooks/routes.hpp"
#include "api/webhooks/services.hpp"
#include "schemas/answers/replays.hpp"
#include "schemas/limits.hpp"
#include "schemas/requests/deliveries.hpp"
#include "storage/registry/find/paging.hpp"
#include "storage/registry/find/webhooks.hpp"

namespace herald::api::webhooks {
namespace {

using calls::answered;
using calls::reading_call;
using schemas::delivery_row;
namespace answers = schemas::answers;
namespace registry_find = storage::registry::find;
namespace requests = schemas::requests;

bool is_wanted_call(const requests::find_webhook_calls& asked, const delivery_row& row) {
    const auto holds = [](const auto& list, const auto& value) {
        return list.empty() || std::ranges::count(list, value) > 0;
    };
    return holds(asked.ids, row.id) && holds(asked.webhook_ids, row.webhook_id) &&
           holds(asked.event_uuids, row.event_id) && holds(asked.status, schemas::call_status_of(row.state));
}

void add_seen(const reading_call& call, std::vector<delivery_row> rows, std::vector<delivery_row>& out) {
    std::map<schemas::workspace_id, std::optional<delivery_sight>> sights;
    for (delivery_row& row : rows) {
        const auto [at, is_new] = sights.try_emplace(row.workspace_id);
        if (is_new)
            if (auto sight = sight_of(call, row.workspace_id)) at->second.emplace(*std::move(sight));
        if (at->second && at->second->sees(row)) out.push_back(std::move(row));
    }
}

/// The newest of a webhook, or of a workspace.
std::vector<delivery_row> newest_of(const reading_call& call, const delivery_sight& sight,
                                    schemas::webhook_id webhook, std::size_t most) {
    storage::deliveries::delivery_question question;
    question.filter.workspace_id = sight.workspace().id;
    question.filter.webhook_id = webhook;
    question.rows_max = most;
    question.is_counted = false;
    question.may_see = sight.judge();
    return call.of<services>().history.list(question).rows;
}

/// At most `most` of a workspace, or of all the webhooks together. Errors: not_found for the caller's default
/// workspace.
result<std::vector<delivery_row>> candidates(const reading_call& call,
                                             const requests::find_webhook_calls& asked, std::size_t most) {
    const storage::deliveries::delivery_history& history = call.of<services>().history;
    std::vector<delivery_row> found;
    if (!asked.ids.empty()) {
        std::vector<delivery_row> rows;
        for (const std::string& id : asked.ids)
            if (auto row = history.find(id)) rows.push_back(*std::move(row));
        add_seen(call, std::move(rows), found);
    } else if (!asked.event_uuids.empty()) {
        for (const std::string& id : asked.event_uuids) add_seen(call, history.rows_of_event(id), found);
    } else if (!asked.webhook_ids.empty()) {
        const std::size_t share = std::max<std::size_t>(1, most / asked.webhook_ids.size());
        for (const schemas::webhook_id id : asked.webhook_ids) {
            const auto hook = registry_find::find_webhook(call.state(), id);
            if (!hook) continue;
            const auto sight = sight_of(call, hook->workspace_id);
            if (!sight) continue;
            for (delivery_row& row : newest_of(call, *sight, id, share)) found.push_back(std::move(row));
        }
    } else {
        const auto sight = sight_of(call, schemas::workspace_id{});
        if (!sight) return sight.error();
        found = newest_of(call, *sight, {}, most);
    }
    std::erase_if(found, [&](const delivery_row& row) { return !is_wanted_call(asked, row); });
    std::ranges::sort(found, [](const delivery_row& left, const delivery_row& right) {
        return left.time_event_ms != right.time_event_ms ? left.time_event_ms > right.time_event_ms
                                                         : left.id < right.id;
    });
    return found;
}

answers::webhook_call call_of(const reading_call& call, const delivery_row& row, bool in_full) {
    answers::webhook_call shown{row.id,
                                row.webhook_id,
                                row.event_id,
                                schemas::call_status_of(row.state),
                                time_text(row.time_event_ms),
                                time_text(row.last_ms == 0 ? row.time_event_ms : row.last_ms),
                                {}};
    for (const auto& each : call.of<services>().history.attempts_of_delivery(row.id))
        shown.attempts.push_back(attempt_shown(each, in_full));
    return shown;
}

answered find_webhook_calls(reading_call& call) {
    const auto body = call.body<requests::find_webhook_calls>();
    if (!body) return body.error();
    const schemas::pagination paging = body->pagination.value_or(schemas::pagination{});
    if (const auto good = registry_find::check_paging(paging); !good) return good.error();
    if (!paging.page_token.empty())
        return runtime::invalid_argument(
            "page_token is not known here; use page_number, or page_token of GET deliveries");
    const std::size_t limit = paging.page_limit > 0 ? static_cast<std::size_t>(paging.page_limit)
                                                    : limits::deliveries_per_page_default;
    const std::size_t skipped =
        (static_cast<std::size_t>(std::max<std::int64_t>(1, paging.page_number)) - 1) * limit;
    const auto found = candidates(call, *body, limits::list_rows_max);
    if (!found) return found.error();
    answers::webhook_calls answer;
    answer.total_records = found->size();
    for (std::size_t i = skipped; i < std::min(found->size(), skipped + limit); ++i) {
        const delivery_row& row = (*found)[i];
        const auto sight = sight_of(call, row.workspace_id);
        answer.calls.push_back(call_of(call, row, sight && sight->sees_all()));
    }
    return call.answer(answer);
}

using namespace calls::rows;

const calls::route call_table[] = {
    find<requests::find_webhook_calls, answers::webhook_calls>(
        "find_webhook_calls", "/api/v1/uac-proxy/events/findWebhookCall", find_webhook_calls, "webhooks",
        "Finds deliveries with their attempts, the newest first, of the newest 10000"),
};

}  // namespace

std::span<const calls::route> webhook_call_routes() { return call_table; }

}  // namespace herald::api::webhooks
