// How lanes take turns.
#include "workers/lanes.hpp"

#include <algorithm>

#include "runtime/assert.hpp"

namespace herald::workers {

namespace {

constexpr std::size_t tests_waiting_max = 8;
constexpr std::size_t share_of_replay = 4;  // a quarter
constexpr std::int64_t idle_lane_kept_ms = 10 * 60'000;
constexpr std::int64_t open_breaker_kept_ms = 24 * 3'600'000;  // longer than any wait between two attempts

}  // namespace

std::ostream& operator<<(std::ostream& out, const lane_action& action) {
    if (action.what == lane_action::kind::start) return out << "start " << action.delivery;
    constexpr const char* reasons[] = {"lane full", "breaker open", "parked", "waited long"};
    return out << "spill " << action.delivery << " (" << reasons[static_cast<std::size_t>(action.reason)]
               << ")";
}

lanes::queue& lanes::lane::waiting(lane_share share) {
    switch (share) {
        case lane_share::replay:
            return replay;
        case lane_share::test:
            return tests;
        case lane_share::live:
            break;
    }
    return live;
}

std::size_t lanes::lane::running_of(lane_share share) const {
    return static_cast<std::size_t>(
        std::count_if(running.begin(), running.end(),
                      [share](const auto& attempt) { return attempt.second.share == share; }));
}

lane_actions lanes::offer(schemas::webhook_id webhook, const lane_offer& offered, std::int64_t now_ms) {
    lane_actions actions;
    lane& mine = x_lanes[webhook];
    mine.busy_ms = now_ms;
    const auto spilled = [&](spill_reason reason) {
        actions.push_back({lane_action::kind::spill, offered.delivery, reason});
        return actions;
    };
    if (offered.share != lane_share::test) {
        if (mine.parked_until_ms > now_ms) return spilled(spill_reason::parked);
        if (mine.breaker.would_admit(now_ms) == breaker::admission::refused)
            return spilled(spill_reason::breaker_open);
    }
    if (!has_room(mine, offered)) return spilled(spill_reason::lane_full);
    mine.waiting(offered.share).push_back({offered.delivery, now_ms, offered.bytes});
    enlist(webhook, mine, now_ms);
    start_all(now_ms, actions);
    return actions;
}

lane_actions lanes::finished(schemas::webhook_id webhook, delivery_key delivery, receiver_state state,
                             std::int64_t now_ms) {
    lane_actions actions;
    lane& mine = x_lanes.at(webhook);
    const auto found = mine.running.find(delivery);
    HERALD_ASSERT(found != mine.running.end());
    const running_attempt attempt = found->second;
    mine.running.erase(found);
    --x_in_flight;
    if (mine.standing == rank::troubled) --x_in_flight_troubled;
    mine.busy_ms = now_ms;

    if (attempt.share != lane_share::test) {
        const bool failed = state == receiver_state::failing || state == receiver_state::overloaded;
        record_result(mine, attempt, state, now_ms);
        if (failed || is_slow(attempt, now_ms))
            set_standing(mine, rank::troubled);
        else if (state == receiver_state::well)
            set_standing(mine, rank::healthy);
        if (failed && mine.breaker.would_admit(now_ms) == breaker::admission::refused)
            spill(mine, spill_reason::breaker_open, actions);
    }
    enlist(webhook, mine, now_ms);
    start_all(now_ms, actions);
    return actions;
}

lane_actions lanes::park(schemas::webhook_id webhook, std::int64_t until_ms, std::int64_t now_ms) {
    lane_actions actions;
    lane& mine = x_lanes[webhook];
    mine.busy_ms = now_ms;
    mine.parked_until_ms = std::max(mine.parked_until_ms, until_ms);
    if (mine.parked_until_ms > now_ms) spill(mine, spill_reason::parked, actions);
    return actions;
}

void lanes::withdraw(schemas::webhook_id webhook, delivery_key delivery) {
    const auto found = x_lanes.find(webhook);
    if (found == x_lanes.end()) return;
    for (queue* waiting : {&found->second.live, &found->second.replay, &found->second.tests})
        std::erase_if(*waiting, [delivery](const waiting_delivery& one) { return one.delivery == delivery; });
}

lane_actions lanes::bar(bool barred, std::int64_t now_ms) {
    lane_actions actions;
    if (x_barred == barred) return actions;
    x_barred = barred;
    if (barred) return actions;
    for (auto& [webhook, mine] : x_lanes)
        for (queue* waiting : {&mine.live, &mine.replay, &mine.tests})
            for (waiting_delivery& one : *waiting) one.since_ms = now_ms;
    start_all(now_ms, actions);
    return actions;
}

lane_actions lanes::tick(std::int64_t now_ms) {
    lane_actions actions;
    for (auto at = x_lanes.begin(); at != x_lanes.end();) {
        auto& [webhook, mine] = *at;
        for (const auto& [delivery, attempt] : mine.running)
            if (is_slow(attempt, now_ms)) set_standing(mine, rank::troubled);
        if (!x_barred) spill_old(mine, now_ms, actions);
        const bool idle =
            mine.live.empty() && mine.replay.empty() && mine.tests.empty() && mine.running.empty();
        const std::int64_t kept_ms = mine.breaker.is_open() ? open_breaker_kept_ms : idle_lane_kept_ms;
        if (idle && now_ms >= mine.parked_until_ms && now_ms - mine.busy_ms > kept_ms) {
            at = x_lanes.erase(at);
            continue;
        }
        enlist(webhook, mine, now_ms);  // a breaker or a parking may have run out
        ++at;
    }
    start_all(now_ms, actions);
    return actions;
}

std::size_t lanes::waiting() const noexcept {
    std::size_t all = 0;
    for (const auto& [webhook, mine] : x_lanes)
        all += mine.live.size() + mine.replay.size() + mine.tests.size();
    return all;
}

std::size_t lanes::open_breakers() const noexcept {
    return static_cast<std::size_t>(std::count_if(
        x_lanes.begin(), x_lanes.end(), [](const auto& entry) { return entry.second.breaker.is_open(); }));
}

std::int64_t lanes::parked_until_ms(schemas::webhook_id webhook) const {
    const auto found = x_lanes.find(webhook);
    return found == x_lanes.end() ? 0 : found->second.parked_until_ms;
}

bool lanes::has_room(lane& mine, const lane_offer& offered) const {
    const queue& waiting = mine.waiting(offered.share);
    std::size_t bytes = offered.bytes;
    for (const waiting_delivery& one : waiting) bytes += one.bytes;
    // A delivery larger than the bound must get its turn too.
    return waiting.empty() || (waiting.size() < depth_of(offered.share) && bytes <= x_bounds.bytes);
}

std::size_t lanes::depth_of(lane_share share) const noexcept {
    switch (share) {
        case lane_share::replay:
            return std::max<std::size_t>(1, x_bounds.depth / share_of_replay);
        case lane_share::test:
            return tests_waiting_max;
        case lane_share::live:
            break;
    }
    return x_bounds.depth;
}

std::optional<lane_share> lanes::next_share(const lane& mine, std::int64_t now_ms) const {
    if (!mine.tests.empty() && mine.running_of(lane_share::test) == 0) return lane_share::test;
    const std::size_t running = mine.running.size() - mine.running_of(lane_share::test);
    if (running >= mine.concurrency || now_ms < mine.parked_until_ms) return std::nullopt;
    if (mine.breaker.would_admit(now_ms) == breaker::admission::refused) return std::nullopt;
    const std::size_t replays_max = std::max<std::size_t>(1, mine.concurrency / share_of_replay);
    const bool may_replay = !mine.replay.empty() && mine.running_of(lane_share::replay) < replays_max;
    if (may_replay && (mine.replay_next || mine.live.empty())) return lane_share::replay;
    if (!mine.live.empty()) return lane_share::live;
    return std::nullopt;
}

bool lanes::has_slot(rank standing) const noexcept {
    const std::size_t half = std::max<std::size_t>(1, x_bounds.slots / 2);
    if (standing == rank::troubled) return x_in_flight < x_bounds.slots && x_in_flight_troubled < half;
    // Those that hang seemed healthy when they took their slots, and may be all of them at once.
    const std::size_t healthy = x_in_flight - x_in_flight_troubled;
    return x_in_flight < x_bounds.slots || (healthy < half && x_in_flight < x_bounds.slots + half);
}

void lanes::set_standing(lane& mine, rank standing) {
    if (mine.standing == standing) return;
    mine.standing = standing;
    if (standing == rank::troubled)
        x_in_flight_troubled += mine.running.size();
    else
        x_in_flight_troubled -= mine.running.size();
}

void lanes::enlist(schemas::webhook_id webhook, lane& mine, std::int64_t now_ms) {
    const auto standing = static_cast<std::size_t>(mine.standing);
    if (mine.in_turn[standing] || !next_share(mine, now_ms)) return;
    mine.in_turn[standing] = true;
    x_turns[standing].push_back(webhook);
}

void lanes::start_all(std::int64_t now_ms, lane_actions& actions) {
    if (x_barred) return;
    for (const rank standing : {rank::healthy, rank::troubled}) {
        std::deque<schemas::webhook_id>& turns = x_turns[static_cast<std::size_t>(standing)];
        while (!turns.empty() && has_slot(standing)) {
            const schemas::webhook_id webhook = turns.front();
            turns.pop_front();
            const auto found = x_lanes.find(webhook);
            if (found == x_lanes.end()) continue;
            lane& mine = found->second;
            mine.in_turn[static_cast<std::size_t>(standing)] = false;
            if (mine.standing == standing)
                if (const auto share = next_share(mine, now_ms)) start_one(mine, *share, now_ms, actions);
            enlist(webhook, mine, now_ms);
        }
    }
}

void lanes::start_one(lane& mine, lane_share share, std::int64_t now_ms, lane_actions& actions) {
    queue& waiting = mine.waiting(share);
    const delivery_key delivery = waiting.front().delivery;
    waiting.pop_front();
    running_attempt attempt{now_ms, share, breaker::admission::ordinary};
    if (share != lane_share::test) {
        attempt.admitted = mine.breaker.admit(now_ms);
        mine.replay_next = share == lane_share::live;
    }
    mine.running.emplace(delivery, attempt);
    ++x_in_flight;
    if (mine.standing == rank::troubled) ++x_in_flight_troubled;
    actions.push_back({lane_action::kind::start, delivery, {}});
}

bool lanes::is_slow(const running_attempt& attempt, std::int64_t now_ms) noexcept {
    return attempt.share != lane_share::test && now_ms - attempt.since_ms > limits::slow_attempt_ms;
}

void lanes::spill(lane& mine, spill_reason reason, lane_actions& actions) {
    for (queue* waiting : {&mine.live, &mine.replay}) {
        for (const waiting_delivery& one : *waiting)
            actions.push_back({lane_action::kind::spill, one.delivery, reason});
        waiting->clear();
    }
}

void lanes::spill_old(lane& mine, std::int64_t now_ms, lane_actions& actions) {
    for (queue* waiting : {&mine.live, &mine.replay}) {
        while (!waiting->empty() && now_ms - waiting->front().since_ms > limits::lane_wait_ms_max) {
            actions.push_back(
                {lane_action::kind::spill, waiting->front().delivery, spill_reason::waited_long});
            waiting->pop_front();
        }
    }
}

void lanes::record_result(lane& mine, const running_attempt& attempt, receiver_state state,
                          std::int64_t now_ms) const {
    switch (state) {
        case receiver_state::well:
            mine.breaker.succeeded(attempt.admitted, now_ms);
            mine.concurrency = std::min(mine.concurrency + 1, x_bounds.concurrency);
            break;
        case receiver_state::failing:
            mine.breaker.failed(attempt.admitted, now_ms);
            mine.concurrency = std::max<std::size_t>(1, mine.concurrency / 2);
            break;
        case receiver_state::overloaded:
            mine.breaker.failed(attempt.admitted, now_ms);
            mine.concurrency = 1;
            break;
        case receiver_state::unknown:
            mine.breaker.abandoned(attempt.admitted);
            break;
    }
}

}  // namespace herald::workers
