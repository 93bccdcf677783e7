// A delivery's way to its attempt, and what follows from the answer.
#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/assert.hpp"
#include "schemas/limits.hpp"
#include "workers/delivery_machine.hpp"
#include "workers/limits.hpp"
#include "workers/request_maker.hpp"
#include "workers/retry_policy.hpp"

namespace herald::workers {

namespace {

static_assert(1'000 * std::int64_t{limits::retry_wait_seconds_min} >= retry_wait_ms_min);

using schemas::attempt_result;
using schemas::delivery_error;
using schemas::delivery_source;

/// Scheme, host and port, as a number that is never 0.
std::uint64_t place_of(std::string_view location) noexcept {
    const std::size_t host = location.find("://");
    const std::size_t end = host == location.npos ? location.npos : location.find_first_of("/?", host + 3);
    return std::max<std::uint64_t>(1, std::hash<std::string_view>{}(location.substr(0, end)));
}

receiver_state state_after(const answer_meaning& meaning) noexcept {
    if (meaning.delivery == verdict_on_delivery::done) return receiver_state::well;
    if (!meaning.counts_as_failure) return receiver_state::unknown;
    return meaning.slow_down ? receiver_state::overloaded : receiver_state::failing;
}

/// Of an attempt at a webhook that has changed since: it may have another place now, so what the earlier one
/// answered ends no delivery and asks for no pause.
answer_meaning of_earlier_revision(answer_meaning meaning) {
    if (meaning.delivery == verdict_on_delivery::dead) meaning.delivery = verdict_on_delivery::retry;
    meaning.disable_webhook = false;
    meaning.park_until_ms.reset();
    return meaning;
}

}  // namespace

// --- to the attempt ---

void delivery_machine::proceed(delivery_key key) {
    const auto at = x_deliveries.find(key);
    HERALD_ASSERT(at != x_deliveries.end() && at->second.at == stage::waiting);
    delivery_in_memory& mine = at->second;
    schemas::delivery& record = mine.what.record;
    if (is_test(mine)) {
        if (is_late(mine)) return expire_test(at);
    } else if (is_fleeting(mine)) {
        if (is_late(mine)) return drop(at);
    } else {
        std::int64_t parked_ms = parked_for_ms(record);
        if (parked_ms > 0 && look_up(mine.what) == row_state::not_reached) return;
        if (parked_ms > 0 && revision_of(record.webhook_id) > record.revision_seen)
            parked_ms = record.wait_left_ms = 0;  // the receiver that asked for the pause may be gone
        if (parked_ms > 0) park(record.webhook_id, record.revision_seen, record.parked_until_ms);
        if (next_hop(record.wait_left_ms) || parked_ms > 0)
            return write_wait(at, std::max(record.wait_left_ms, parked_ms), &worker_counters::hops);
    }
    switch (look_up(mine.what)) {
        case row_state::deleted:
            return skip(at, "the webhook was deleted");
        case row_state::disabled:
            return hold(at);
        case row_state::not_reached:
            return;
        case row_state::usable:
            if (!x_active_ids.contains(record.id)) enter_lane(at);
            return;
    }
}

void delivery_machine::enter_lane(iterator at) {
    const schemas::delivery& record = at->second.what.record;
    const schemas::subscriber* row = x_parts.subscribers.find(record.webhook_id);
    HERALD_ASSERT(row != nullptr);
    at->second.at = stage::queued;
    x_waiting.erase(at->first);
    x_active_ids.insert(record.id);
    carry_out(x_lanes.offer(record.webhook_id,
                            {.delivery = at->first,
                             .share = share_of(record),
                             .bytes = at->second.what.event->body.size(),
                             .has_waited = at->second.what.has_waited,
                             .over_share = is_over_share(at->second),
                             .revision = row->revision,
                             .rate_limit = row->settings.delivery.rate_limit,
                             .place = place_of(row->settings.location)},
                            loop_now()));
}

std::uint64_t delivery_machine::revision_of(schemas::webhook_id webhook) const {
    const schemas::subscriber* row = x_parts.subscribers.find(webhook);
    return row ? row->revision : 0;
}

delivery_machine::row_state delivery_machine::look_up(const delivery_of_event& delivery) const {
    const events::subscriber_table& table = x_parts.subscribers;
    const schemas::delivery& record = delivery.record;
    const schemas::event& event = *delivery.event;
    if (!table.at_end_ms()) return row_state::not_reached;
    if (table.presence_of(record.webhook_id) == events::subscriber_table::presence::deleted)
        return row_state::deleted;
    const schemas::subscriber* row = table.find(record.webhook_id);
    if (row == nullptr) {
        const std::uint64_t known_at = std::max(event.offset, record.revision_seen);
        return events::reaches(table.head(), event.generation, known_at) ? row_state::deleted
                                                                         : row_state::not_reached;
    }
    // Revisions are offsets in one generation's log: those of an older generation no longer mean anything.
    if (table.head().generation <= event.generation && row->revision < record.revision_seen)
        return row_state::not_reached;
    if (!row->enabled && record.source != delivery_source::test) return row_state::disabled;
    return row_state::usable;
}

void delivery_machine::carry_out(lane_actions&& actions) {
    x_actions.insert(x_actions.end(), actions.begin(), actions.end());
    if (std::exchange(x_is_carrying_out, true)) return;  // the loop below handles it: its work leads to more
    while (!x_actions.empty()) {
        const lane_action action = x_actions.front();
        x_actions.pop_front();
        const auto at = x_deliveries.find(action.delivery);
        HERALD_ASSERT(at != x_deliveries.end() && at->second.at == stage::queued);
        if (action.what == lane_action::kind::start) {
            start(at);
        } else {
            x_active_ids.erase(at->second.what.record.id);
            spill(at, action);
        }
    }
    x_is_carrying_out = false;
    continue_at_pace();
}

/// What waits for a rate limit starts when its time has come.
void delivery_machine::continue_at_pace() {
    const auto due_ms = x_lanes.paced_until_ms(loop_now());
    if (!due_ms || (x_pace_ms != 0 && x_pace_ms <= *due_ms)) return;
    x_pace_ms = *due_ms;
    x_parts.scheduler.run_at(*due_ms, x_lifetime.guard([this, due_ms] {
        if (x_pace_ms != *due_ms) return;
        x_pace_ms = 0;
        carry_out(x_lanes.keep_pace(loop_now()));
    }));
}

void delivery_machine::start(iterator at) {
    at->second.at = stage::attempting;
    // The row may have changed or become stale while the delivery waited in its lane.
    const bool usable = subscribers_reachable() && look_up(at->second.what) == row_state::usable;
    const bool late = has_deadline(at->second) && is_late(at->second);
    if (!usable || late) return wait_again(at);
    send(at, *x_parts.subscribers.find(at->second.what.record.webhook_id));
}

void delivery_machine::wait_again(iterator at) {
    leave_lane(at, receiver_state::unknown);
    at->second.at = stage::waiting;
    at->second.since_ms = now_ms();
    x_waiting.insert(at->first);
    if (subscribers_reachable()) proceed(at->first);
}

void delivery_machine::send(iterator at, const schemas::subscriber& row) {
    delivery_in_memory& mine = at->second;
    const std::int64_t time_ms = log_ms();
    mine.attempt = {row.revision, time_ms, {}};
    auto made = make_request(
        mine.what, row, {x_parts.keys, x_options.header_prefix, x_parts.scheduler.time().wall_ms(), time_ms});
    if (!made) {
        delivery_answer none;
        none.error = delivery_error::protocol;
        none.message = "not sent: a secret of the webhook does not open: " + made.error().message;
        return answered(at->first, none);
    }
    if (is_test(mine))
        made->request.deadline_ms =
            std::min(made->request.deadline_ms, mine.what.record.deadline_ms - time_ms);
    mine.attempt.request_headers = std::move(made->headers_for_history);
    mine.handle = x_parts.transport.post(
        std::move(made->request), [this, key = at->first](delivery_answer answer) { answered(key, answer); });
}

// --- after the attempt ---

void delivery_machine::answered(delivery_key key, const delivery_answer& answer) {
    const auto at = x_deliveries.find(key);
    HERALD_ASSERT(at != x_deliveries.end() && at->second.at == stage::attempting);
    delivery_in_memory& mine = at->second;
    schemas::attempt attempt = record_of(mine.what, mine.attempt, answer);
    if (is_test(mine)) return answered_test(at, answer, std::move(attempt));

    schemas::delivery& record = mine.what.record;
    if (answer.own_shortage) {
        ++x_parts.counters.own_shortages;
        leave_lane(at, receiver_state::unknown);
        if (!mine.part.wanted()) return forget(at);
        if (is_fleeting(mine)) return drop(at);
        record.waits_for_room = true;
        return write_wait(at, retry_wait_ms_min, &worker_counters::spilled);
    }
    answer_meaning meaning = meaning_of(answer, log_ms());
    if (revision_of(record.webhook_id) > mine.attempt.webhook_revision)
        meaning = of_earlier_revision(std::move(meaning));
    attempt.disable_webhook = meaning.disable_webhook;
    ++record.attempts_made;
    record.spills = 0;
    record.waits_for_room = false;
    record.wait_left_ms = 0;
    record.revision_seen = std::max(record.revision_seen, mine.attempt.webhook_revision);
    if (record.first_attempt_ms == 0) record.first_attempt_ms = mine.attempt.time_ms;
    if (meaning.park_until_ms) park(record.webhook_id, mine.attempt.webhook_revision, *meaning.park_until_ms);
    leave_lane(at, {state_after(meaning), answer.answer_ms});

    if (meaning.delivery != verdict_on_delivery::done) return fail(at, meaning, std::move(attempt));
    ++x_parts.counters.attempts_succeeded;
    end(at, attempt);
}

/// The delivery ends with this attempt. If its partition was taken away, the next owner attempts it again.
void delivery_machine::end(iterator at, const schemas::attempt& last) {
    if (at->second.part.wanted()) return write_last(at, last);
    tell(last, *at->second.what.event);
    forget(at);
}

void delivery_machine::answered_test(iterator at, const delivery_answer& answer, schemas::attempt&& attempt) {
    const bool well = answer.error == delivery_error::none;
    ++(well ? x_parts.counters.attempts_succeeded : x_parts.counters.attempts_failed);
    attempt.result = well ? attempt_result::succeeded : attempt_result::dead;
    leave_lane(at, receiver_state::unknown);
    end(at, attempt);
}

void delivery_machine::fail(iterator at, const answer_meaning& meaning, schemas::attempt&& attempt) {
    delivery_in_memory& mine = at->second;
    schemas::delivery& record = mine.what.record;
    ++x_parts.counters.attempts_failed;
    if (is_fleeting(mine)) {
        attempt.message = meaning.reason;
        attempt.result = attempt_result::dead;
        return end(at, attempt);
    }
    if (record.is_extra) {
        attempt.message = meaning.reason;
        attempt.result = attempt_result::will_retry;
        return end(at, attempt);
    }
    std::string dead_because;
    std::int64_t wait_ms = 0;
    if (meaning.delivery == verdict_on_delivery::dead) {
        dead_because = meaning.reason;
    } else if (const auto scheduled_ms = scheduled_wait_ms(record); !scheduled_ms) {
        dead_because = "attempt " + std::to_string(record.attempts_made) + " was the last: " + meaning.reason;
    } else if (backlog_full(record.webhook_id)) {
        dead_because = "too many deliveries of this webhook wait for another attempt: " + meaning.reason;
    } else {
        record.parked_until_ms = meaning.park_until_ms.value_or(0);
        wait_ms = std::max(*scheduled_ms, record.parked_until_ms - log_ms());
    }
    const bool dead = !dead_because.empty() && mine.part.wanted();
    attempt.message = dead ? dead_because : meaning.reason;
    attempt.result = dead ? attempt_result::dead : attempt_result::will_retry;
    if (!dead) attempt.next_attempt_ms = log_ms() + wait_ms;
    if (dead) {
        ++x_parts.counters.dead;
        record.reason = std::move(dead_because);
        return end(at, attempt);
    }
    tell(attempt, *at->second.what.event);
    if (!mine.part.wanted()) return forget(at);  // the partition's next owner will make this attempt again
    write_wait(at, wait_ms, &worker_counters::retried);
}

/// By the webhook's own schedule, if it has one. Empty: that was the last attempt.
std::optional<std::int64_t> delivery_machine::scheduled_wait_ms(const schemas::delivery& record) const {
    const schemas::subscriber* row = x_parts.subscribers.find(record.webhook_id);
    if (!row || row->settings.delivery.retry_schedule.empty())
        return wait_after(default_retry_schedule_ms, record.attempts_made, x_parts.random);
    std::vector<std::int64_t> waits_ms;
    for (const std::uint32_t seconds : row->settings.delivery.retry_schedule)
        waits_ms.push_back(std::int64_t{1'000} * seconds);
    return wait_after(waits_ms, record.attempts_made, x_parts.random);
}

void delivery_machine::leave_lane(iterator at, const attempt_end& ended) {
    const schemas::delivery& record = at->second.what.record;
    x_active_ids.erase(record.id);
    at->second.handle.reset();
    x_intake.attempted(now_ms());
    carry_out(x_lanes.finished(record.webhook_id, at->first, ended, loop_now()));
}

/// A time further off than any receiver may ask for was set when the log's clock was ahead and has gone back
/// since, perhaps by days: nobody knows how much of the pause is left.
std::int64_t delivery_machine::parked_for_ms(const schemas::delivery& record) const {
    const std::int64_t wait_ms = record.parked_until_ms - log_ms();
    return wait_ms > limits::parked_ms_max + limits::clocks_apart_ms_max
               ? 0
               : std::min(wait_ms, limits::parked_ms_max);
}

void delivery_machine::park(schemas::webhook_id webhook, std::uint64_t revision, std::int64_t until_ms) {
    const std::int64_t wait_ms = std::clamp<std::int64_t>(until_ms - log_ms(), 0, limits::parked_ms_max);
    carry_out(x_lanes.park(webhook, revision, now_ms() + wait_ms, loop_now()));
}

}  // namespace herald::workers
