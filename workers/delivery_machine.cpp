// How a delivery enters, and how it ends without an attempt or on another topic; its way to an attempt and
// what follows is in delivery_attempt.cpp.
#include "workers/delivery_machine.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "schemas/binary.hpp"
#include "workers/limits.hpp"
#include "workers/retry_policy.hpp"

namespace herald::workers {

namespace {

using schemas::attempt_result;
using schemas::delivery_error;
using schemas::delivery_source;

}  // namespace

/// What failed when it was sent again is retried as any other delivery.
lane_share delivery_machine::share_of(const schemas::delivery& record) noexcept {
    switch (record.source) {
        case delivery_source::test:
            return lane_share::test;
        case delivery_source::replay:
            return lane_share::replay;
        case delivery_source::resend:
            if (record.attempts_made == 0) return lane_share::resend;
            break;
        case delivery_source::event:
            break;
    }
    return lane_share::live;
}

delivery_machine::delivery_machine(delivery_machine_parts parts, delivery_options options)
    : x_parts(parts),
      x_options(std::move(options)),
      x_lanes({.concurrency = x_options.concurrency, .place = x_options.concurrency_of_place}),
      x_late(parts.scheduler, [this] { return !idle(); }) {}

void delivery_machine::accept(delivery_of_event what, record_part part) {
    ++x_parts.counters.deliveries;
    const delivery_key key = ++x_last_key;
    const auto [at, inserted] = x_deliveries.try_emplace(key);
    at->second.what = std::move(what);
    at->second.part = std::move(part);
    at->second.since_ms = now_ms();
    x_waiting.insert(key);
    x_intake.accepted();
    x_late.watch();
    ++at->second.part.of->held[at->second.what.record.webhook_id];
    if (at->second.what.held) return keep_held(at);
    if (!at->second.what.event->refused.empty()) return bury(at, at->second.what.event->refused);
    if (is_test(at->second)) x_tests.insert(key);
    if (is_fleeting(at->second)) x_fleeting.insert(key);
    proceed(key);
}

bool delivery_machine::wants(const schemas::delivery& record, std::int64_t waited_ms) const {
    return x_lanes.wants(record.webhook_id,
                         {.share = share_of(record),
                          .bytes = record.event.body.size(),
                          .has_waited = true,
                          .waited_ms = waited_ms,
                          .revision = revision_of(record.webhook_id)},
                         loop_now());
}

bool delivery_machine::takes_events() {
    x_intake.look(x_lanes, x_late.is_late(), loop_now());
    return !x_intake.is_full();
}

bool delivery_machine::takes_waiting() {
    x_intake.look(x_lanes, x_late.is_late(), loop_now());
    return !x_intake.is_overfull();
}

void delivery_machine::recalled(const assignment& wanted) { give_back(wanted, being_written::ends); }

/// What has arrived is done, even if its record is not acknowledged yet: the writer goes on until it is, and
/// only a death in this moment would lose it. Otherwise the next owner would send all of it again.
void delivery_machine::release(const assignment& wanted) {
    for (const auto& [key, mine] : x_deliveries)
        if (mine.part.of.get() == &wanted && mine.has_arrived) mine.part.done();
}

void delivery_machine::revoked(const assignment& lost) { give_back(lost, being_written::is_forgotten); }

void delivery_machine::give_back(const assignment& lost, being_written what) {
    std::vector<delivery_key> attempting;
    for (auto at = x_deliveries.begin(); at != x_deliveries.end();) {
        const auto current = at++;
        delivery_in_memory& mine = current->second;
        if (mine.part.of.get() != &lost) continue;
        if (mine.at == stage::writing && what == being_written::ends) continue;
        if (mine.at == stage::attempting) {
            if (!mine.handle->on_the_wire()) attempting.push_back(current->first);
            continue;
        }
        if (mine.at == stage::queued) {
            x_lanes.withdraw(mine.what.record.webhook_id, current->first);
            x_active_ids.erase(mine.what.record.id);
        }
        forget(current);
    }
    // Only now: leaving a lane lets other deliveries start, and none of those may belong to the lost
    // partition.
    for (const delivery_key key : attempting) {
        const auto at = x_deliveries.find(key);
        ++x_parts.counters.attempts_cancelled;
        at->second.handle.reset();
        leave_lane(at, receiver_state::unknown);
        forget(at);
    }
}

void delivery_machine::subscribers_changed() {
    carry_out(x_lanes.bar(!subscribers_reachable(), loop_now()));
    if (!x_parts.subscribers.at_end_ms()) return;  // no row is known yet
    const std::vector<delivery_key> waiting(x_waiting.begin(), x_waiting.end());
    for (const delivery_key key : waiting) proceed(key);
}

void delivery_machine::tick() {
    subscribers_changed();
    carry_out(x_lanes.tick(loop_now()));
    x_backlog.tick(now_ms());
    const std::vector<delivery_key> tests(x_tests.begin(), x_tests.end());
    for (const delivery_key key : tests) {
        const auto at = x_deliveries.find(key);
        if (at->second.at != stage::queued || !is_late(at->second)) continue;
        x_lanes.withdraw(at->second.what.record.webhook_id, key);
        x_active_ids.erase(at->second.what.record.id);
        expire_test(at);
    }
    const std::vector<delivery_key> fleeting(x_fleeting.begin(), x_fleeting.end());
    for (const delivery_key key : fleeting) {
        const auto at = x_deliveries.find(key);
        if (at->second.at == stage::waiting && is_late(at->second)) drop(at);
    }
    if (!subscribers_reachable()) return;
    const std::vector<delivery_key> waiting(x_waiting.begin(), x_waiting.end());
    for (const delivery_key key : waiting) {
        const auto at = x_deliveries.find(key);
        if (has_deadline(at->second) || now_ms() - at->second.since_ms <= limits::subscriber_wait_ms_max)
            continue;
        at->second.what.record.waits_for_room = true;
        write_wait(at, retry_wait_ms_min, &worker_counters::spilled);
    }
}

void delivery_machine::drain() {
    for (auto at = x_deliveries.begin(); at != x_deliveries.end();) {
        const auto current = at++;
        delivery_in_memory& mine = current->second;
        if (mine.at != stage::waiting && mine.at != stage::queued) continue;
        if (mine.at == stage::queued) {
            x_lanes.withdraw(mine.what.record.webhook_id, current->first);
            x_active_ids.erase(mine.what.record.id);
        }
        if (has_deadline(mine))
            forget(current);  // not done: another worker takes it, or it is too late
        else
            spill_for_room(current, 0);
    }
}

void delivery_machine::read_gauges(worker_gauges& gauges) const {
    gauges.deliveries_in_memory = x_deliveries.size();
    for (const auto& [key, mine] : x_deliveries) {
        if (mine.at == stage::waiting) ++gauges.waiting_for_row;
        if (mine.at == stage::writing) ++gauges.writing;
        gauges.oldest_ms = std::min(gauges.oldest_ms, mine.what.event->time_ms);
        worker_gauges::of_webhook& of = gauges.webhooks[mine.what.record.webhook_id];
        ++of.deliveries;
        of.oldest_ms = std::min(of.oldest_ms, mine.what.event->time_ms);
    }
    gauges.log_ms = log_ms();
    gauges.attempts_in_flight = x_lanes.in_flight();
    gauges.lanes_waiting = x_lanes.waiting();
    gauges.webhooks_with_open_breaker = x_lanes.open_breakers();
    gauges.breakers_open = gauges.webhooks_with_open_breaker.size();
}

void delivery_machine::read_backlog(worker_backlog& now) const {
    for (const auto& [key, mine] : x_deliveries) {
        const bool goes_to_wait = mine.at == stage::writing && !mine.what.record.waits_for_room;
        if (mine.is_dead || goes_to_wait || has_deadline(mine)) continue;
        ++now.memory;
        // One that failed before came when its wait was over.
        if (mine.what.record.attempts_made == 0)
            now.oldest_ms = std::min(now.oldest_ms, mine.what.event->time_ms);
    }
}

// --- no attempt ---

void delivery_machine::skip(iterator at, std::string message, delivery_error error) {
    ++x_parts.counters.skipped;
    const no_attempt why{attempt_result::skipped, error, std::move(message), log_ms()};
    write_last(at, record_of(at->second.what, why));
}

/// The outbox keeps it for a replay.
void delivery_machine::keep_held(iterator at) {
    ++x_parts.counters.held;
    const schemas::attempt held =
        record_of(at->second.what, {attempt_result::held, delivery_error::none,
                                    "the webhook was disabled when the event happened", log_ms()});
    report(held, *at->second.what.event);
    write(at, events::log::topic::attempts, schemas::encode(held),
          [this](iterator written) { done(written); });
}

/// The event found the webhook enabled, so it is kept for replay (P3); only the history may lose records.
void delivery_machine::hold(iterator at) {
    if (is_fleeting(at->second)) return drop(at);
    const std::string message = "held: the webhook is disabled";
    ++x_parts.counters.held;
    const no_attempt why{attempt_result::held, delivery_error::none, message, log_ms()};
    at->second.what.record.reason = message;
    write_last(at, record_of(at->second.what, why));
}

void delivery_machine::bury(iterator at, std::string why) {
    ++x_parts.counters.dead;
    const no_attempt made{attempt_result::dead, delivery_error::none, why, log_ms()};
    at->second.what.record.reason = std::move(why);
    write_last(at, record_of(at->second.what, made));
}

void delivery_machine::expire_test(iterator at) {
    skip(at, "the test was not attempted before its deadline", delivery_error::timeout);
}

void delivery_machine::drop(iterator at) {
    ++x_parts.counters.dropped;
    done(at);
}

/// A delivery that only waits for room says nothing about its receiver, and does not count towards the cap.
void delivery_machine::spill(iterator at, const lane_action& how) {
    schemas::delivery& record = at->second.what.record;
    if (is_test(at->second))
        return skip(at, "too many tests of this webhook wait already", delivery_error::busy);
    if (is_fleeting(at->second)) return drop(at);
    record.waits_for_room = how.reason == spill_reason::no_room;
    if (record.waits_for_room) return spill_for_room(at, how.wait_ms);
    if (backlog_full(record.webhook_id))
        return bury(at, "too many deliveries of this webhook wait for another attempt");
    std::int64_t wait_ms = how.wait_ms;
    if (how.reason == spill_reason::parked) {
        record.parked_until_ms = log_ms() + wait_ms;
        record.revision_seen = std::max(record.revision_seen, revision_of(record.webhook_id));
    }
    if (how.reason == spill_reason::troubled) wait_ms = wait_of_troubled(record.spills++);
    // Better just after the breaker may be probed than just before.
    if (how.reason == spill_reason::breaker_open) wait_ms += retry_wait_ms_min - 1;
    write_wait(at, wait_ms, &worker_counters::spilled);
}

/// `wait_ms`: until its lane should have room.
void delivery_machine::spill_for_room(iterator at, std::int64_t wait_ms) {
    at->second.what.record.wait_left_ms = 0;
    ++x_parts.counters.spilled;
    // A replay holds up no live delivery, so it does not wait among them.
    const bool is_replay = at->second.what.record.source == delivery_source::replay;
    write(at, is_replay ? events::log::topic::replay : waiting_topic_for(wait_ms));
}

// --- successors ---

/// A wait shorter than the shortest tier is rounded up to it: the caller knows that the delivery is not due.
void delivery_machine::write_wait(iterator at, std::int64_t wait_ms, counter moved) {
    schemas::delivery& record = at->second.what.record;
    const retry_hop hop = *next_hop(std::max(wait_ms, retry_wait_ms_min));
    record.wait_left_ms = hop.wait_left_ms;
    ++(x_parts.counters.*moved);
    if (!record.waits_for_room) x_backlog.add(record.webhook_id, hop.tier, now_ms());
    write(at, retry_tiers[hop.tier].topic);
}

void delivery_machine::write_dead(iterator at, std::string reason) {
    at->second.what.record.reason = std::move(reason);
    at->second.is_dead = true;
    write(at, events::log::topic::dead);
}

void delivery_machine::write(iterator at, std::string_view topic) {
    write(at, topic, encode(at->second.what), [this](iterator written) { done(written); });
}

/// What came of the delivery, with which it ends: it is done when the record is in the log, so no count of
/// outcomes lacks it. Held and dead ones then go to `dead`, but for those beside a schedule, which goes on.
void delivery_machine::write_last(iterator at, const schemas::attempt& last) {
    report(last, *at->second.what.event);
    const bool is_kept = (last.result == attempt_result::dead || last.result == attempt_result::held) &&
                         !is_test(at->second) && !is_fleeting(at->second) && !at->second.what.record.is_extra;
    at->second.is_dead = is_kept;
    at->second.has_arrived = last.result == attempt_result::succeeded;
    write(at, events::log::topic::attempts, schemas::encode(last), [this, is_kept](iterator written) {
        if (!is_kept) return done(written);
        x_writing_bytes -= std::exchange(written->second.writing_bytes, 0);
        write(written, events::log::topic::dead);
    });
}

void delivery_machine::write(iterator at, std::string_view topic, std::string value,
                             std::function<void(iterator)> then) {
    delivery_in_memory& mine = at->second;
    mine.at = stage::writing;
    mine.writing_bytes = value.size();
    x_writing_bytes += value.size();
    x_waiting.erase(at->first);
    x_parts.writer.write(
        topic, mine.what.record.webhook_id, std::move(value),
        [part = mine.part, arrived = mine.has_arrived] { return arrived || part.wanted(); },
        x_lifetime.guard([this, key = at->first, then = std::move(then),
                          is_attempt = topic == events::log::topic::attempts](const result<void>& outcome) {
            const auto written = x_deliveries.find(key);
            if (written == x_deliveries.end()) return;  // its partition has been revoked
            if (outcome || is_attempt) return then(written);
            cannot_be_kept(written, outcome.error());
        }));
}

/// The log takes no record this large: the event's place in its log still counts as done, and as much as
/// possible is kept.
void delivery_machine::cannot_be_kept(iterator at, const error& why) {
    delivery_in_memory& mine = at->second;
    x_writing_bytes -= std::exchange(mine.writing_bytes, 0);
    if (mine.what.event->body.empty()) return done(at);  // nothing can be kept; the writer has logged why
    schemas::event without_body = *mine.what.event;
    without_body.body.clear();
    mine.what.event = std::make_shared<const schemas::event>(std::move(without_body));
    std::string reason = "too large to be kept: " + why.message;
    if (!mine.is_dead) return bury(at, std::move(reason));
    write_dead(at, mine.what.record.reason + "; " + reason);
}

// --- the rest ---

void delivery_machine::tell(const schemas::attempt& attempt, const schemas::event& event) {
    x_parts.writer.write_attempt(attempt);
    report(attempt, event);
}

void delivery_machine::report(const schemas::attempt& attempt, const schemas::event& event) {
    const schemas::subscriber* row = x_parts.subscribers.find(attempt.webhook_id);
    x_report.saw(attempt, event, row ? std::string_view(row->settings.name) : std::string_view(), now_ms());
}

void delivery_machine::done(iterator at) {
    const record_part part = at->second.part;
    forget(at);
    part.done();
}

void delivery_machine::forget(iterator at) {
    x_waiting.erase(at->first);
    x_tests.erase(at->first);
    x_fleeting.erase(at->first);
    x_writing_bytes -= at->second.writing_bytes;
    auto& held = at->second.part.of->held;
    const auto mine = held.find(at->second.what.record.webhook_id);
    if (--mine->second == 0) held.erase(mine);
    x_deliveries.erase(at);
}

bool delivery_machine::is_test(const delivery_in_memory& mine) const noexcept {
    return mine.what.record.source == delivery_source::test;
}

bool delivery_machine::is_fleeting(const delivery_in_memory& mine) const noexcept {
    return has_deadline(mine) && !is_test(mine);
}

bool delivery_machine::has_deadline(const delivery_in_memory& mine) const noexcept {
    return is_test(mine) || mine.what.record.deadline_ms != 0;
}

bool delivery_machine::is_late(const delivery_in_memory& mine) const noexcept {
    // While the log's clock is unknown, a test that nobody waits for any more must not be sent either.
    const bool known = x_parts.logs_time.is_known();
    const std::int64_t wall_ms = x_parts.scheduler.time().wall_ms();
    return mine.what.record.deadline_ms <= (known ? log_ms() : std::max(log_ms(), wall_ms));
}

bool delivery_machine::backlog_full(schemas::webhook_id webhook) {
    return x_backlog.count(webhook, now_ms()) >= x_options.retry_backlog_max;
}

bool delivery_machine::is_over_share(const delivery_in_memory& mine) const {
    const auto found = mine.part.of->held.find(mine.what.record.webhook_id);
    return !mine.what.has_waited && found->second > limits::worker_window_max / limits::worker_window_share;
}

bool delivery_machine::subscribers_reachable() const {
    const std::optional<std::int64_t> at_end_ms = x_parts.subscribers.at_end_ms();
    return at_end_ms && now_ms() - *at_end_ms <= limits::subscribers_unreachable_ms_max;
}

}  // namespace herald::workers
