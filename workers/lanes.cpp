// How lanes take turns.
#include "workers/lanes.hpp"

#include <algorithm>

#include "runtime/assert.hpp"
#include "workers/limits.hpp"

namespace herald::workers {

namespace {

constexpr std::size_t share_of_replay = 4;  // a quarter
constexpr std::int64_t idle_lane_kept_ms = 10 * 60'000;
constexpr std::int64_t open_breaker_kept_ms = 24 * 3'600'000;  // longer than any wait between two attempts
constexpr std::int64_t minute_ms = 60'000;
constexpr std::int64_t well_ms = 1'000;  // after a success
constexpr std::int64_t noise_ms = 10;    // answers within this are as quick as any

/// They are attempted whatever the receiver has shown.
bool is_asked_for(lane_share share) noexcept {
    return share == lane_share::test || share == lane_share::resend;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const lane_action& action) {
    if (action.what == lane_action::kind::start) return out << "start " << action.delivery;
    constexpr const char* reasons[] = {"no room", "troubled", "breaker open", "parked"};
    return out << "spill " << action.delivery << " (" << reasons[static_cast<std::size_t>(action.reason)]
               << ") for " << action.wait_ms << " ms";
}

void lanes::queue::erase(std::map<delivery_key, waiting_delivery>::iterator at) {
    bytes -= at->second.bytes;
    all.erase(at);
}

bool lanes::lane::is_empty() const {
    return running.empty() &&
           std::all_of(waiting.begin(), waiting.end(), [](const queue& one) { return one.all.empty(); });
}

bool lanes::answer_times::add(std::int64_t took_ms, std::int64_t now_ms) {
    taken[count++] = took_ms;
    if (!median_ms) median_ms = took_ms;  // better than nothing
    if (count < taken.size()) return false;
    const auto middle = taken.begin() + taken.size() / 2;
    std::nth_element(taken.begin(), middle, taken.end());
    median_ms = *middle;
    count = 0;
    if (now_ms - lowest_since_ms >= minute_ms) {
        lowest_before_ms = now_ms - lowest_since_ms < 2 * minute_ms ? lowest_ms : std::nullopt;
        lowest_ms.reset();
        lowest_since_ms = now_ms;
    }
    lowest_ms = std::min(lowest_ms.value_or(*median_ms), *median_ms);
    return *median_ms > 2 * std::max(noise_ms, std::min(*lowest_ms, lowest_before_ms.value_or(*lowest_ms)));
}

lanes::lane& lanes::lane_of(schemas::webhook_id webhook, std::uint64_t revision, loop_time now) {
    lane& mine = x_lanes[webhook];
    mine.busy_ms = now.ms;
    if (revision <= mine.revision) return mine;
    set_standing(mine, rank::healthy);
    static_cast<experience&>(mine) = {};
    mine.revision = revision;
    return mine;
}

lane_actions lanes::offer(schemas::webhook_id webhook, const lane_offer& offered, loop_time now) {
    lane_actions actions;
    lane& mine = lane_of(webhook, offered.revision, now);
    set_pace(webhook, mine, offered.rate_limit);
    set_place(webhook, mine, offered.place);
    if (!is_asked_for(offered.share)) {
        if (auto refused = refusal(mine, now)) {
            refused->delivery = offered.delivery;
            actions.push_back(*refused);
            return actions;
        }
    }
    if (!has_room(mine, offered)) {
        actions.push_back(put_off(mine, offered.has_waited, now));
        actions.back().delivery = offered.delivery;
        return actions;
    }
    queue& waiting = mine.of(offered.share);
    waiting.all.emplace(offered.delivery, waiting_delivery{now, offered.bytes});
    waiting.bytes += offered.bytes;
    enlist(webhook, mine, now);
    start_all(now, actions);
    return actions;
}

lane_actions lanes::finished(schemas::webhook_id webhook, delivery_key delivery, attempt_end ended,
                             loop_time now) {
    lane_actions actions;
    lane& mine = x_lanes.at(webhook);
    const auto found = mine.running.find(delivery);
    HERALD_ASSERT(found != mine.running.end());
    const running_attempt attempt = found->second;
    mine.running.erase(found);
    --x_in_flight;
    leave_place(webhook, attempt.place, now);
    if (mine.standing == rank::troubled) --x_in_flight_troubled;
    mine.busy_ms = now.ms;

    const bool tells = attempt.revision == mine.revision;
    if (tells) --mine.running_of[static_cast<std::size_t>(attempt.share)];
    if (tells && attempt.share == lane_share::resend && ended.state == receiver_state::well &&
        mine.breaker.is_open())
        mine.breaker.succeeded(breaker::admission::probe, now.ms);
    if (tells && !is_asked_for(attempt.share)) {
        const bool failed =
            ended.state == receiver_state::failing || ended.state == receiver_state::overloaded;
        record_result(mine, attempt, ended, now);
        const bool slow = is_slow(mine, attempt, now) || ended.answer_ms > limits::slow_attempt_ms;
        if (failed || slow)
            set_standing(mine, rank::troubled);
        else if (ended.state == receiver_state::well)
            set_standing(mine, rank::healthy);
        if (failed)
            if (const auto refused = refusal(mine, now)) spill(mine, *refused, actions);
    }
    enlist(webhook, mine, now);
    start_all(now, actions);
    return actions;
}

lane_actions lanes::park(schemas::webhook_id webhook, std::uint64_t revision, std::int64_t until_ms,
                         loop_time now) {
    lane_actions actions;
    lane& mine = lane_of(webhook, revision, now);
    if (revision < mine.revision) return actions;
    mine.parked_until_ms = std::max(mine.parked_until_ms, until_ms);
    if (const auto refused = refusal(mine, now)) spill(mine, *refused, actions);
    return actions;
}

bool lanes::wants(schemas::webhook_id webhook, const lane_offer& offered, loop_time now) const {
    if (x_is_barred) return false;
    const auto found = x_lanes.find(webhook);
    if (found == x_lanes.end()) return true;
    const lane& mine = found->second;
    if (offered.revision > mine.revision) return true;
    // Others wait behind it, for other receivers.
    const bool waits_long = answer_ms(mine) && offered.waited_ms > backlog_ms_max(mine);
    return waits_long || has_room(mine, offered) || !is_well(mine, now) || refusal(mine, now);
}

void lanes::withdraw(schemas::webhook_id webhook, delivery_key delivery) {
    const auto found = x_lanes.find(webhook);
    if (found == x_lanes.end()) return;
    for (queue& waiting : found->second.waiting)
        if (const auto at = waiting.all.find(delivery); at != waiting.all.end()) return waiting.erase(at);
}

lane_actions lanes::bar(bool barred, loop_time now) {
    lane_actions actions;
    if (x_is_barred == barred) return actions;
    x_is_barred = barred;
    if (barred) return actions;
    for (auto& [webhook, mine] : x_lanes)
        for (queue& waiting : mine.waiting)
            for (auto& [delivery, one] : waiting.all) one.since = now;
    start_all(now, actions);
    return actions;
}

lane_actions lanes::tick(loop_time now) {
    lane_actions actions;
    for (auto at = x_lanes.begin(); at != x_lanes.end();) {
        auto& [webhook, mine] = *at;
        mine.silent_ms = 0;
        for (const auto& [delivery, attempt] : mine.running) {
            if (!is_slow(mine, attempt, now)) continue;
            set_standing(mine, rank::troubled);
            const std::int64_t silent_ms = std::min(now.since(attempt.since), now.ms - mine.succeeded_ms);
            mine.silent_ms = std::max(mine.silent_ms, silent_ms);
        }
        if (!x_is_barred) spill_old(mine, now, actions);
        const std::int64_t kept_ms = mine.breaker.is_open() ? open_breaker_kept_ms : idle_lane_kept_ms;
        if (mine.is_empty() && now.ms >= mine.parked_until_ms && now.ms - mine.busy_ms > kept_ms) {
            x_paced.erase(webhook);
            set_place(webhook, mine, 0);
            at = x_lanes.erase(at);
            continue;
        }
        enlist(webhook, mine, now);  // a breaker or a parking may have expired
        ++at;
    }
    start_all(now, actions);
    return actions;
}

std::size_t lanes::waiting() const noexcept {
    std::size_t all = 0;
    for (const auto& [webhook, mine] : x_lanes)
        for (const queue& waiting : mine.waiting) all += waiting.all.size();
    return all;
}

std::size_t lanes::waiting_for_worker(loop_time now) const noexcept {
    std::size_t all = 0;
    for (const auto& [webhook, mine] : x_lanes)
        if (mine.succeeded_ms != 0 && now.ms - mine.succeeded_ms < limits::late_worker_well_ms)
            for (const queue& waiting : mine.waiting) all += waiting.all.size();
    return all;
}

std::vector<schemas::webhook_id> lanes::open_breakers() const {
    std::vector<schemas::webhook_id> all;
    for (const auto& [webhook, mine] : x_lanes)
        if (mine.breaker.is_open()) all.push_back(webhook);
    return all;
}

std::int64_t lanes::parked_until_ms(schemas::webhook_id webhook) const {
    const auto found = x_lanes.find(webhook);
    return found == x_lanes.end() ? 0 : found->second.parked_until_ms;
}

bool lanes::has_room(const lane& mine, const lane_offer& offered) const {
    const queue& waiting = mine.of(offered.share);
    if (waiting.all.empty()) return true;  // one must get its turn, whatever its size
    if (offered.over_share) return false;
    // Deliveries that have waited may use the upper third, where no others may: as long as there are any, the
    // others queue up behind them.
    const std::size_t depth = depth_of(mine, offered.share);
    return waiting.all.size() < (offered.has_waited ? depth + depth / 2 : depth) &&
           waiting.bytes + offered.bytes <= bytes_of(mine);
}

std::optional<std::int64_t> lanes::answer_ms(const lane& mine) noexcept {
    if (mine.silent_ms <= limits::slow_attempt_ms) return mine.times.median_ms;
    return std::max(mine.silent_ms, mine.times.median_ms.value_or(0));
}

double lanes::work_in(const lane& mine, std::size_t concurrency, double ms) noexcept {
    const auto each_ms = static_cast<double>(std::max<std::int64_t>(1, *answer_ms(mine)));
    const double able = static_cast<double>(concurrency) * ms / each_ms;
    return mine.rate_limit == 0 ? able : std::min(able, mine.rate_limit * ms / 1'000);
}

std::size_t lanes::depth_of(const lane& mine, lane_share share) const noexcept {
    if (is_asked_for(share)) return limits::lane_tests_max;
    const bool healthy = mine.standing == rank::healthy;
    std::size_t depth = healthy ? limits::lane_depth_unknown : limits::lane_depth_min;
    if (const auto each_ms = answer_ms(mine)) {
        // More than a very slow receiver does would go round: into its lane, and after a while out again.
        const bool slow = *each_ms > limits::slow_attempt_ms || mine.rate_limit != 0;
        const std::size_t least = slow ? limits::lane_depth_slow_min : limits::lane_depth_min;
        const std::size_t most = healthy ? std::max(least, x_bounds.depth) : limits::lane_depth_min;
        depth = static_cast<std::size_t>(std::clamp(work_in(mine, mine.concurrency, limits::lane_work_ms),
                                                    static_cast<double>(least), static_cast<double>(most)));
    }
    depth = std::min(depth, x_bounds.depth);
    return share == lane_share::live ? depth : std::max<std::size_t>(1, depth / share_of_replay);
}

std::size_t lanes::bytes_of(const lane& mine) const noexcept {
    const bool is_proven = mine.standing == rank::healthy && mine.times.median_ms;
    return is_proven ? x_bounds.bytes : std::min(x_bounds.bytes, limits::lane_bytes_troubled_max);
}

std::optional<lane_action> lanes::refusal(const lane& mine, loop_time now) const {
    lane_action refused{lane_action::kind::spill, 0, spill_reason::parked, mine.parked_until_ms - now.ms};
    if (refused.wait_ms > 0) return refused;
    if (mine.breaker.would_admit(now.ms) != breaker::admission::refused) return std::nullopt;
    refused.reason = spill_reason::breaker_open;
    refused.wait_ms = mine.breaker.closed_to_all_ms(now.ms);
    return refused;
}

lane_action lanes::put_off(lane& mine, bool has_waited, loop_time now) const {
    lane_action off{lane_action::kind::spill, 0, spill_reason::no_room, 0};
    if (!is_well(mine, now)) {
        off.reason = spill_reason::troubled;
        return off;
    }
    if (!answer_ms(mine)) return off;
    // Each comes back when those before it are done, if the receiver takes as many at a time as it may: a
    // delivery that comes too early queues up again, but a receiver that is kept waiting has lost that time.
    const bool slowed = mine.growth_until != 0 && now.ms - mine.slowed_ms < minute_ms;
    const std::size_t at_once = slowed ? mine.concurrency : x_bounds.concurrency;
    const double wait_ms = std::max(0.0, mine.booked_ms - static_cast<double>(now.ms));
    mine.booked_ms = static_cast<double>(now.ms) + wait_ms + 1 / work_in(mine, at_once, 1);
    const std::int64_t backlog_ms = backlog_ms_max(mine);
    // Not among those of receivers that are only rather slow, and would be held up by it.
    const std::int64_t least_ms = backlog_ms == 0 ? limits::very_slow_wait_ms_min : 1;
    if (has_waited || backlog_ms == 0 || wait_ms > static_cast<double>(backlog_ms))
        off.wait_ms = std::max(least_ms, static_cast<std::int64_t>(wait_ms));
    return off;
}

/// How much work may wait in the topic without a delay, for a receiver of known speed.
std::int64_t lanes::backlog_ms_max(const lane& mine) noexcept {
    const std::int64_t each_ms = *answer_ms(mine);
    if (each_ms > limits::slow_attempt_ms) return 0;
    return each_ms > limits::slow_answer_ms ? limits::slow_backlog_ms_max : limits::backlog_ms_max;
}

/// One failure between successes makes nobody wait. A receiver that is slow is well.
bool lanes::is_well(const lane& mine, loop_time now) noexcept {
    return !mine.fails || now.ms - mine.succeeded_ms < well_ms + mine.times.median_ms.value_or(0);
}

std::optional<lane_share> lanes::next_share(const lane& mine, loop_time now) const {
    const auto running_of = [&mine](lane_share share) {
        return mine.running_of[static_cast<std::size_t>(share)];
    };
    const bool live = !mine.of(lane_share::live).all.empty();
    const bool replay = !mine.of(lane_share::replay).all.empty();
    for (const lane_share share : {lane_share::test, lane_share::resend})
        if (!mine.of(share).all.empty() && running_of(share) == 0) return share;
    if ((!live && !replay) || refusal(mine, now)) return std::nullopt;
    const std::size_t at_once = concurrency_of(mine);
    if (pace_ms(mine, now) > 0 || is_full(mine.place)) return std::nullopt;
    if (live) return running_of(lane_share::live) < at_once ? std::optional(lane_share::live) : std::nullopt;
    const std::size_t replays_max = std::max<std::size_t>(1, at_once / share_of_replay);
    return running_of(lane_share::replay) < replays_max ? std::optional(lane_share::replay) : std::nullopt;
}

/// When slots are scarce no lane takes many, so that all get their turn soon.
std::size_t lanes::concurrency_of(const lane& mine) const noexcept {
    const bool scarce = 2 * x_in_flight >= x_bounds.slots;
    return scarce ? std::min(mine.concurrency, limits::lane_concurrency_scarce_max) : mine.concurrency;
}

bool lanes::has_slot(rank standing) const noexcept {
    const std::size_t half = std::max<std::size_t>(1, x_bounds.slots / 2);
    if (standing == rank::troubled) return x_in_flight < x_bounds.slots && x_in_flight_troubled < half;
    // Hanging lanes seemed healthy when they took their slots, and may hold all of them at once.
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

void lanes::enlist(schemas::webhook_id webhook, lane& mine, loop_time now) {
    const auto standing = static_cast<std::size_t>(mine.standing);
    if (mine.in_turn[standing] || !next_share(mine, now)) return;
    mine.in_turn[standing] = true;
    x_turns[standing].push_back(webhook);
}

void lanes::start_all(loop_time now, lane_actions& actions) {
    if (x_is_barred) return;
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
                if (const auto share = next_share(mine, now)) start_one(mine, *share, now, actions);
            enlist(webhook, mine, now);
        }
    }
}

void lanes::start_one(lane& mine, lane_share share, loop_time now, lane_actions& actions) {
    queue& waiting = mine.of(share);
    const delivery_key delivery = waiting.all.begin()->first;
    waiting.erase(waiting.all.begin());
    running_attempt attempt{now, share, breaker::admission::ordinary, mine.revision, mine.place};
    if (!is_asked_for(share)) {
        attempt.admitted = mine.breaker.admit(now.ms);
        book_next_start(mine, now);
    }
    mine.running.emplace(delivery, attempt);
    if (mine.place != 0) ++x_places[mine.place].in_flight;
    ++mine.running_of[static_cast<std::size_t>(share)];
    ++x_in_flight;
    if (mine.standing == rank::troubled) ++x_in_flight_troubled;
    actions.push_back({lane_action::kind::start, delivery, {}, 0});
}

bool lanes::is_slow(const lane& mine, const running_attempt& attempt, loop_time now) noexcept {
    return attempt.revision == mine.revision && !is_asked_for(attempt.share) &&
           now.since(attempt.since) > limits::slow_attempt_ms;
}

void lanes::spill(lane& mine, const lane_action& how, lane_actions& actions) {
    for (const lane_share share : {lane_share::live, lane_share::replay}) {
        for (const auto& [delivery, one] : mine.of(share).all) {
            actions.push_back(how);
            actions.back().delivery = delivery;
        }
        mine.of(share) = {};
    }
}

void lanes::spill_old(lane& mine, loop_time now, lane_actions& actions) const {
    for (const lane_share share : {lane_share::live, lane_share::replay}) {
        queue& waiting = mine.of(share);
        while (!waiting.all.empty() &&
               now.since(waiting.all.begin()->second.since) > limits::lane_wait_ms_max) {
            actions.push_back(put_off(mine, false, now));
            actions.back().delivery = waiting.all.begin()->first;
            waiting.erase(waiting.all.begin());
        }
    }
}

void lanes::record_result(lane& mine, const running_attempt& attempt, const attempt_end& ended,
                          loop_time now) const {
    switch (ended.state) {
        case receiver_state::well:
            mine.breaker.succeeded(attempt.admitted, now.ms);
            mine.succeeded_ms = now.ms;
            mine.fails = false;
            mine.silent_ms = 0;
            grow(mine);
            if (mine.times.add(ended.answer_ms.value_or(now.since(attempt.since)), now.ms))
                slow_down(mine, attempt, now);
            break;
        case receiver_state::failing:
        case receiver_state::overloaded:
            mine.breaker.failed(attempt.admitted, now.ms);
            mine.fails = true;
            slow_down(mine, attempt, now);
            if (ended.state == receiver_state::overloaded) mine.concurrency = 1;
            break;
        case receiver_state::unknown:
            mine.breaker.abandoned(attempt.admitted);
            break;
    }
}

void lanes::grow(lane& mine) const {
    const bool quickly = mine.growth_until == 0 || mine.concurrency < mine.growth_until;
    if (!quickly && ++mine.successes < mine.concurrency) return;
    mine.successes = 0;
    mine.concurrency = std::min(mine.concurrency + 1, x_bounds.concurrency);
}

/// Once for all attempts that were running together.
void lanes::slow_down(lane& mine, const running_attempt& attempt, loop_time now) {
    if (mine.growth_until != 0 && attempt.since.ms <= mine.slowed_ms) return;
    mine.slowed_ms = now.ms;
    mine.concurrency = std::max<std::size_t>(1, mine.concurrency / 2);
    mine.growth_until = mine.concurrency;
    mine.successes = 0;
}

}  // namespace herald::workers
