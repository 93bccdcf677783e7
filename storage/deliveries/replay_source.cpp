#include "storage/deliveries/replay_source.hpp"

#include <algorithm>

#include "runtime/text.hpp"
#include "schemas/event_filter.hpp"
#include "schemas/json.hpp"
#include "storage/registry/tables/outbox.hpp"

namespace herald::storage::deliveries {
namespace {

namespace tables = registry::tables;
using schemas::delivery_state;
using schemas::replay;

/// What was sent and is under way for the first time needs no replay.
bool is_missing(const replay& of, const std::optional<schemas::delivery_row>& known) {
    if (!of.scope.only_undelivered || !known) return true;
    return known->state != delivery_state::delivered &&
           !(known->state == delivery_state::waiting && known->attempts == 0);
}

bool is_in_scope(const replay& of, const schemas::webhook& hook, const schemas::event_summary& event) {
    return event.workspace_id == of.workspace_id && event.type != schemas::event_type::read &&
           (of.scope.event_types.empty() || std::ranges::count(of.scope.event_types, event.type) > 0) &&
           hears(hook, event.type, event.resource_type);
}

/// By the webhook's filter as the replay began.
bool passes_filter(const registry::state::state_view& state, const replay& of, std::string_view event_id) {
    if (of.settings.delivery.filter.empty()) return true;
    const auto event = tables::outbox::find(state, event_id);
    if (!event) return false;
    const auto body = schemas::parse_json(event->body);
    return body && passes(of.settings.delivery.filter, *body);
}

replay_slice next_of_events(const registry::state::state_view& state, const delivery_history& history,
                            const replay& of, const std::string& cursor, std::size_t items_max,
                            std::size_t looked_at_max) {
    replay_slice slice{{}, cursor, true};
    schemas::webhook hook;
    hook.settings = of.settings;
    std::size_t looked_at = 0;
    tables::outbox::each_from(state, of.scope.since_ms, cursor, [&](const tables::outbox::summary& each) {
        if (each.time_ms >= of.scope.until_ms) return false;
        if (slice.items.size() == items_max || looked_at++ == looked_at_max) {
            slice.is_at_end = false;
            return false;
        }
        slice.cursor = each.place;
        if (!is_in_scope(of, hook, each.event) || !passes_filter(state, of, each.event.id)) return true;
        auto known = history.find(schemas::delivery_id(each.event.id, of.scope.webhook_id));
        if (is_missing(of, known))
            slice.items.push_back({{each.event.id, of.scope.webhook_id}, each.time_ms, std::move(known)});
        return true;
    });
    return slice;
}

replay_slice next_of_picked(const delivery_history& history, const replay& of, const std::string& cursor,
                            std::size_t items_max) {
    const auto& picked = of.scope.picked;
    std::size_t place = runtime::parse_plain_decimal(cursor).value_or(0);
    replay_slice slice;
    for (; place < picked.size() && slice.items.size() < items_max; ++place) {
        const schemas::event_for_webhook& each = picked[place];
        auto known = history.find(schemas::delivery_id(each.event_id, each.webhook_id));
        const std::int64_t time_ms = known ? known->time_event_ms : 0;
        slice.items.push_back({each, time_ms, std::move(known)});
    }
    slice.cursor = std::to_string(place);
    slice.is_at_end = place >= picked.size();
    return slice;
}

/// READ events are not kept, so their deliveries cannot be sent again.
replay_slice next_of_filter(const delivery_history& history, const replay& of, const std::string& cursor,
                            std::size_t items_max) {
    delivery_question asked{*of.scope.filter, {}, items_max, false, {}};
    const std::size_t point = cursor.find('.');
    if (point != cursor.npos)
        asked.after = delivery_place{
            static_cast<std::int64_t>(runtime::parse_plain_decimal(cursor.substr(0, point)).value_or(0)),
            cursor.substr(point + 1)};
    delivery_page page = history.list(asked);
    replay_slice slice{{}, cursor, !page.next};
    if (page.next) slice.cursor = std::to_string(page.next->time_event_ms) + "." + page.next->id;
    for (schemas::delivery_row& row : page.rows) {
        if (!page.next) slice.cursor = std::to_string(row.time_event_ms) + "." + row.id;
        if (row.event_type == schemas::event_type::read) continue;
        const std::int64_t time_ms = row.time_event_ms;
        slice.items.push_back({{row.event_id, row.webhook_id}, time_ms, std::move(row)});
    }
    return slice;
}

}  // namespace

replay_slice next_of_replay(const registry::state::state_view& state, const delivery_history& history,
                            const replay& of, const std::string& cursor, std::size_t items_max,
                            std::size_t looked_at_max) {
    if (!of.scope.picked.empty()) return next_of_picked(history, of, cursor, items_max);
    if (of.scope.filter) return next_of_filter(history, of, cursor, items_max);
    return next_of_events(state, history, of, cursor, items_max, looked_at_max);
}

}  // namespace herald::storage::deliveries
