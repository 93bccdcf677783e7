// What lanes keep to besides their own concurrency: the rate that a webhook's owner has set, and how many
// attempts may run at one place at a time.
#include <algorithm>
#include <cmath>

#include "runtime/assert.hpp"
#include "workers/lanes.hpp"

namespace herald::workers {

namespace {

constexpr double pace_slack_ms = 10;  // a loop is not exact: what it was late it may make up

}  // namespace

// --- the rate of a webhook ---

void lanes::set_pace(schemas::webhook_id webhook, lane& mine, std::uint32_t rate_limit) {
    if (mine.rate_limit == rate_limit) return;
    mine.rate_limit = rate_limit;
    mine.next_start_ms = 0;
    if (rate_limit == 0)
        x_paced.erase(webhook);
    else
        x_paced.insert(webhook);
}

void lanes::book_next_start(lane& mine, loop_time now) noexcept {
    if (mine.rate_limit == 0) return;
    const double from_ms = std::max(mine.next_start_ms, static_cast<double>(now.ms) - pace_slack_ms);
    mine.next_start_ms = from_ms + 1'000.0 / mine.rate_limit;
}

std::int64_t lanes::pace_ms(const lane& mine, loop_time now) noexcept {
    if (mine.rate_limit == 0) return 0;
    return std::max<std::int64_t>(0, static_cast<std::int64_t>(std::ceil(mine.next_start_ms)) - now.ms);
}

std::optional<std::int64_t> lanes::paced_until_ms(loop_time now) const {
    std::optional<std::int64_t> first;
    if (x_is_barred) return first;
    for (const schemas::webhook_id webhook : x_paced) {
        const lane& mine = x_lanes.at(webhook);
        if (mine.of(lane_share::live).all.empty() && mine.of(lane_share::replay).all.empty()) continue;
        // Without a wait for its pace it waits for something else.
        const std::int64_t wait_ms = pace_ms(mine, now);
        if (wait_ms > 0 && (!first || now.ms + wait_ms < *first)) first = now.ms + wait_ms;
    }
    return first;
}

lane_actions lanes::keep_pace(loop_time now) {
    lane_actions actions;
    for (const schemas::webhook_id webhook : x_paced) enlist(webhook, x_lanes.at(webhook), now);
    start_all(now, actions);
    return actions;
}

// --- what may run at one place ---

void lanes::set_place(schemas::webhook_id webhook, lane& mine, std::uint64_t place) {
    if (mine.place == place) return;
    if (mine.place != 0) {
        const auto left = x_places.find(mine.place);
        left->second.lanes.erase(webhook);
        if (left->second.lanes.empty() && left->second.in_flight == 0) x_places.erase(left);
    }
    mine.place = place;
    if (place != 0) x_places[place].lanes.insert(webhook);
}

bool lanes::is_full(std::uint64_t place) const {
    const auto found = x_places.find(place);
    return found != x_places.end() && found->second.in_flight >= x_bounds.place;
}

/// The lane after this one gets the turn, so that all have as many.
void lanes::leave_place(schemas::webhook_id webhook, std::uint64_t place, loop_time now) {
    const auto found = x_places.find(place);
    if (found == x_places.end()) return;
    HERALD_ASSERT(found->second.in_flight > 0);
    const bool was_full = found->second.in_flight-- >= x_bounds.place;
    const std::set<schemas::webhook_id>& all = found->second.lanes;
    if (all.empty() && found->second.in_flight == 0) {
        x_places.erase(found);
        return;
    }
    if (!was_full) return;
    const auto enlisted = [&](schemas::webhook_id each) {
        lane& waiting = x_lanes.at(each);
        enlist(each, waiting, now);
        return waiting.in_turn[static_cast<std::size_t>(waiting.standing)];
    };
    const auto next = all.upper_bound(webhook);
    if (!std::any_of(next, all.end(), enlisted)) std::any_of(all.begin(), next, enlisted);
}

}  // namespace herald::workers
