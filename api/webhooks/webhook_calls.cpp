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

using namespace calls::rows;
using schemas::delivery_row;
using storage::deliveries::delivery_place;
using storage::deliveries::is_before;
using storage::deliveries::place_of;
namespace registry_find = storage::registry::find;

/// What the caller may see of each workspace, looked up once.
class sights {
  public:
    explicit sights(const reading_call& call) : x_call(call) {}
    /// Null: nothing.
    const delivery_sight* of(schemas::workspace_id id) {
        const auto [at, is_new] = x_all.try_emplace(id);
        if (is_new)
            if (auto sight = sight_of(x_call, id)) at->second.emplace(*std::move(sight));
        return at->second ? &*at->second : nullptr;
    }

  private:
    const reading_call& x_call;
    std::map<schemas::workspace_id, std::optional<delivery_sight>> x_all;
};

struct found_calls {
    std::vector<delivery_row> rows;
    std::uint64_t total = 0;
    std::optional<delivery_place> until;  // what comes behind it was not looked for
};

template <class List, class Value>
bool holds(const List& list, const Value& value) {
    return std::ranges::count(list, value) > 0;
}

std::vector<schemas::delivery_state> states_in(const requests::find_webhook_calls& asked) {
    std::vector<schemas::delivery_state> states;
    for (const auto& [state, name] : schemas::enum_names<schemas::delivery_state>)
        if (holds(asked.status, schemas::call_status_of(state))) states.push_back(state);
    return states;
}

/// Those with the ids, or else those of the events.
found_calls named_calls(const reading_call& call, const requests::find_webhook_calls& asked, sights& seen) {
    const storage::deliveries::delivery_history& history = call.of<services>().history;
    found_calls found;
    for (const std::string& id : asked.ids)
        if (auto row = history.find(id)) found.rows.push_back(*std::move(row));
    for (const std::string& id : asked.ids.empty() ? asked.event_uuids : std::vector<std::string>())
        for (delivery_row& row : history.rows_of_event(id)) found.rows.push_back(std::move(row));
    const auto is_asked = [&](const delivery_row& row) {
        return (asked.webhook_ids.empty() || holds(asked.webhook_ids, row.webhook_id)) &&
               (asked.event_uuids.empty() || holds(asked.event_uuids, row.event_id)) &&
               (asked.status.empty() || holds(asked.status, schemas::call_status_of(row.state)));
    };
    std::erase_if(found.rows, [&](const delivery_row& row) {
        const delivery_sight* sight = seen.of(row.workspace_id);
        return !sight || !sight->sees(row) || !is_asked(row);
    });
    std::ranges::sort(found.rows, {}, &delivery_row::id);
    const auto again = std::ranges::unique(found.rows, {}, &delivery_row::id);
    found.rows.erase(again.begin(), again.end());
    found.total = found.rows.size();
    return found;
}

/// The first `most` behind `after` of the webhooks, or else of the caller's default workspace. Errors:
/// not_found for that.
result<found_calls> listed_calls(const reading_call& call, const requests::find_webhook_calls& asked,
                                 const std::optional<delivery_place>& after, std::size_t most, sights& seen) {
    std::map<schemas::workspace_id, std::vector<schemas::webhook_id>> places;
    for (const schemas::webhook_id id : asked.webhook_ids)
        if (const auto hook = registry_find::find_webhook(call.state(), id))
            places[hook->workspace_id].push_back(id);
    if (asked.webhook_ids.empty()) {
        const auto sight = sight_of(call, schemas::workspace_id{});
        if (!sight) return sight.error();
        places[sight->workspace().id];
    }
    found_calls found;
    storage::deliveries::delivery_question question;
    question.filter.states = states_in(asked);
    question.after = after;
    question.rows_max = most;
    if (question.filter.states.empty() && !asked.status.empty()) return found;
    for (const auto& [workspace, webhooks] : places) {
        const delivery_sight* sight = seen.of(workspace);
        if (!sight) continue;
        question.filter.workspace_id = workspace;
        question.filter.webhook_id = webhooks.size() == 1 ? webhooks.front() : schemas::webhook_id{};
        question.may_see = sight->judge();
        if (webhooks.size() > 1)
            question.may_see = [sight, &webhooks](const delivery_row& row) {
                return holds(webhooks, row.webhook_id) && sight->sees(row);
            };
        auto page = call.of<services>().history.list(question);
        found.total += page.total;
        if (page.next && (!found.until || is_before(*page.next, *found.until))) found.until = page.next;
        std::ranges::move(page.rows, std::back_inserter(found.rows));
    }
    return found;
}

/// In the order of lists, those behind `after` and not behind `found.until`; the token of the next page.
std::string cut(found_calls& found, const std::optional<delivery_place>& after, std::size_t skipped,
                std::size_t limit) {
    auto& rows = found.rows;
    std::erase_if(rows, [&](const delivery_row& row) {
        return (after && !is_before(*after, place_of(row))) ||
               (found.until && is_before(*found.until, place_of(row)));
    });
    std::ranges::sort(rows, [](const delivery_row& left, const delivery_row& right) {
        return is_before(place_of(left), place_of(right));
    });
    rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(std::min(skipped, rows.size())));
    if (rows.size() > limit) {
        rows.resize(limit);
        return token_of(place_of(rows.back()));
    }
    return found.until ? token_of(*found.until) : std::string();
}

result<void> check_lists(const requests::find_webhook_calls& asked) {
    for (const auto& [name, size] : {std::pair{"ids", asked.ids.size()},
                                     {"event_uuids", asked.event_uuids.size()},
                                     {"webhook_ids", asked.webhook_ids.size()}})
        if (size > limits::calls_named_max)
            return runtime::invalid_argument(
                {name, " holds ", size, " entries; give at most ", limits::calls_named_max});
    return {};
}

answers::webhook_call call_of(const delivery_row& row, const delivery_view& view) {
    return {row.id,
            row.webhook_id,
            row.event_id,
            schemas::call_status_of(row.state),
            time_text(row.time_event_ms),
            time_text(row.last_ms == 0 ? row.time_event_ms : row.last_ms),
            view.attempts(row.id)};
}

answered find_webhook_calls(reading_call& call, requests::find_webhook_calls asked) {
    if (const auto good = check_lists(asked); !good) return good.error();
    const schemas::pagination paging = asked.pagination.value_or(schemas::pagination{});
    if (const auto good = registry_find::check_paging(paging); !good) return good.error();
    const auto after = place_in(paging.page_token);
    if (!after) return after.error();
    const std::size_t limit = paging.page_limit > 0 ? static_cast<std::size_t>(paging.page_limit)
                                                    : limits::deliveries_per_page_default;
    const auto page = static_cast<std::size_t>(std::max<std::int64_t>(1, paging.page_number));
    if (page > limits::list_rows_max / limit)
        return runtime::invalid_argument({"page_number is ", page, "; pages behind the first ",
                                          limits::list_rows_max, " deliveries are reached by page_token"});
    sights seen(call);
    const bool is_named = !asked.ids.empty() || !asked.event_uuids.empty();
    auto found = is_named ? result<found_calls>(named_calls(call, asked, seen))
                          : listed_calls(call, asked, *after, page * limit, seen);
    if (!found) return found.error();
    answers::webhook_calls answer;
    answer.total_records = found->total;
    answer.next_page_token = cut(*found, *after, (page - 1) * limit, limit);
    for (const delivery_row& row : found->rows)
        answer.records.push_back(call_of(row, delivery_view(call, seen.of(row.workspace_id)->sees_all())));
    return call.answer(answer);
}

const calls::route call_table[] = {
    find<find_webhook_calls, answers::webhook_calls>(
        "find_webhook_calls", "/api/v1/uac-proxy/events/findWebhookCall", "webhooks",
        "Finds deliveries with their attempts, the newest first"),
};

}  // namespace

std::span<const calls::route> webhook_call_routes() { return call_table; }

}  // namespace herald::api::webhooks
