// The stages of a delivery.
#include "workers/delivery_machine.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/assert.hpp"
#include "workers/limits.hpp"
#include "workers/retry_policy.hpp"
#include "workers/signing.hpp"

namespace herald::workers {

namespace {

using schemas::attempt_result;
using schemas::delivery_error;
using schemas::delivery_source;

lane_share share_of(delivery_source source) noexcept {
    switch (source) {
        case delivery_source::test:
            return lane_share::test;
        case delivery_source::replay:
            return lane_share::replay;
        case delivery_source::event:
        case delivery_source::resend:
            break;
    }
    return lane_share::live;
}

receiver_state state_after(const answer_meaning& meaning) noexcept {
    if (meaning.delivery == verdict_on_delivery::done) return receiver_state::well;
    if (!meaning.counts_as_failure) return receiver_state::unknown;
    return meaning.slow_down ? receiver_state::overloaded : receiver_state::failing;
}

}  // namespace

delivery_machine::delivery_machine(delivery_machine_parts parts, delivery_options options)
    : x_parts(parts), x_options(std::move(options)), x_lanes({.concurrency = x_options.concurrency}) {}

void delivery_machine::accept(delivery_of_event what, record_part part) {
    ++x_parts.counters.deliveries;
    if (what.held) {
        ++x_parts.counters.held;
        write_no_attempt(what, {attempt_result::held, delivery_error::none,
                                "the webhook was disabled when the event happened", log_ms()});
        part.done();
        return;
    }
    const delivery_key key = ++x_last_key;
    const auto [at, inserted] = x_deliveries.try_emplace(key);
    at->second.what = std::move(what);
    at->second.part = std::move(part);
    at->second.since_ms = now_ms();
    x_waiting.insert(key);
    ++at->second.part.of->held[at->second.what.record.webhook_id];
    if (!at->second.what.event->refused.empty()) return bury(at, at->second.what.event->refused);
    if (is_test(at->second)) x_tests.insert(key);
    proceed(key);
}

bool delivery_machine::wants(const schemas::delivery& record, std::int64_t appended_ms) const {
    return x_lanes.wants(record.webhook_id,
                         {.share = share_of(record.source),
                          .bytes = record.event.body.size(),
                          .has_waited = true,
                          .waited_ms = log_ms() - appended_ms},
                         now_ms());
}

void delivery_machine::revoked(const assignment& lost) {
    std::vector<delivery_key> attempting;
    for (auto at = x_deliveries.begin(); at != x_deliveries.end();) {
        const auto current = at++;
        delivery_in_memory& mine = current->second;
        if (mine.part.of.get() != &lost) continue;
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
    // Only now: leaving a lane lets others start, and none of those may be of the lost partition.
    for (const delivery_key key : attempting) {
        const auto at = x_deliveries.find(key);
        ++x_parts.counters.attempts_cancelled;
        at->second.handle.reset();
        leave_lane(at, receiver_state::unknown);
        forget(at);
    }
}

void delivery_machine::subscribers_changed() {
    carry_out(x_lanes.bar(!subscribers_reachable(), now_ms()));
    if (!x_parts.subscribers.at_end_ms()) return;  // no row is known yet
    const std::vector<delivery_key> waiting(x_waiting.begin(), x_waiting.end());
    for (const delivery_key key : waiting) proceed(key);
}

void delivery_machine::tick() {
    subscribers_changed();
    carry_out(x_lanes.tick(now_ms()));
    x_backlog.tick(now_ms());
    const std::vector<delivery_key> tests(x_tests.begin(), x_tests.end());
    for (const delivery_key key : tests) {
        const auto at = x_deliveries.find(key);
        if (at->second.at != stage::queued || !is_late(at->second)) continue;
        x_lanes.withdraw(at->second.what.record.webhook_id, key);
        x_active_ids.erase(at->second.what.record.id);
        expire_test(at);
    }
    if (!subscribers_reachable()) return;
    const std::vector<delivery_key> waiting(x_waiting.begin(), x_waiting.end());
    for (const delivery_key key : waiting) {
        const auto at = x_deliveries.find(key);
        if (is_test(at->second) || now_ms() - at->second.since_ms <= limits::subscriber_wait_ms_max) continue;
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
        if (is_test(mine))
            forget(current);  // not done: another worker takes it, or it comes too late
        else
            spill_for_room(current);
    }
}

void delivery_machine::read_gauges(worker_gauges& gauges) const {
    gauges.deliveries_in_memory = x_deliveries.size();
    for (const auto& [key, mine] : x_deliveries) {
        if (mine.at == stage::waiting) ++gauges.waiting_for_row;
        if (mine.at == stage::writing) ++gauges.writing;
        gauges.oldest_ms = std::min(gauges.oldest_ms, mine.what.event->time_ms);
    }
    gauges.log_ms = log_ms();
    gauges.attempts_in_flight = x_lanes.in_flight();
    gauges.lanes_waiting = x_lanes.waiting();
    gauges.breakers_open = x_lanes.open_breakers();
}

// --- to the attempt ---

void delivery_machine::proceed(delivery_key key) {
    const auto at = x_deliveries.find(key);
    HERALD_ASSERT(at != x_deliveries.end() && at->second.at == stage::waiting);
    delivery_in_memory& mine = at->second;
    const schemas::delivery& record = mine.what.record;
    if (is_test(mine)) {
        if (is_late(mine)) return expire_test(at);
    } else {
        const std::int64_t parked_ms = parked_for_ms(record);
        if (parked_ms > 0) park(record.webhook_id, record.parked_until_ms);
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
    at->second.at = stage::queued;
    x_waiting.erase(at->first);
    x_active_ids.insert(record.id);
    carry_out(x_lanes.offer(record.webhook_id,
                            {at->first, share_of(record.source), at->second.what.event->body.size(),
                             at->second.what.has_waited, is_over_share(at->second)},
                            now_ms()));
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
    // Revisions are offsets of a generation's log: those of an older one say nothing any more.
    if (table.head().generation <= event.generation && row->revision < record.revision_seen)
        return row_state::not_reached;
    if (!row->enabled && record.source != delivery_source::test) return row_state::disabled;
    return row_state::usable;
}

void delivery_machine::carry_out(lane_actions&& actions) {
    x_actions.insert(x_actions.end(), actions.begin(), actions.end());
    if (std::exchange(x_carrying_out, true)) return;  // the loop below does it: what it does leads to more
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
    x_carrying_out = false;
}

void delivery_machine::start(iterator at) {
    at->second.at = stage::attempting;
    // The row may have changed, or have become old, while the delivery stood in its lane.
    const bool usable = subscribers_reachable() && look_up(at->second.what) == row_state::usable;
    const bool late = is_test(at->second) && is_late(at->second);
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
    result<std::string> secret = std::string();
    if (!row.sealed_secret.empty()) secret = x_parts.keys.unseal(row.seal_binding, row.sealed_secret);
    if (!secret) {
        delivery_answer none;
        none.error = delivery_error::protocol;
        none.message = "not sent: the webhook's secret does not open: " + secret.error().message;
        return answered(at->first, none);
    }
    delivery_description described;
    described.id = mine.what.record.id;
    described.time_ms = x_parts.scheduler.time().wall_ms();  // receivers compare it with theirs
    described.attempt = mine.what.record.attempts_made + 1;
    described.body = mine.what.event->body;
    described.secrets = {*secret};
    described.event = mine.what.event.get();
    described.test = is_test(mine);

    delivery_request request;
    request.webhook_id = row.webhook_id;
    request.location = row.location;
    request.headers = delivery_headers(described, x_options.header_prefix);
    request.body = std::shared_ptr<const std::string>(mine.what.event, &mine.what.event->body);
    if (is_test(mine))
        request.deadline_ms = std::min(request.deadline_ms, mine.what.record.deadline_ms - time_ms);
    mine.attempt.request_headers = headers_without_secrets(request.headers);
    mine.handle = x_parts.transport.post(
        std::move(request), [this, key = at->first](delivery_answer answer) { answered(key, answer); });
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
        record.waits_for_room = true;
        return write_wait(at, retry_wait_ms_min, &worker_counters::spilled);
    }
    const answer_meaning meaning = meaning_of(answer, log_ms());
    attempt.disable_webhook = meaning.disable_webhook;
    ++record.attempts_made;
    record.spills = 0;
    record.waits_for_room = false;
    record.wait_left_ms = 0;
    record.revision_seen = std::max(record.revision_seen, mine.attempt.webhook_revision);
    if (record.first_attempt_ms == 0) record.first_attempt_ms = mine.attempt.time_ms;
    if (meaning.park_until_ms) park(record.webhook_id, *meaning.park_until_ms);
    leave_lane(at, state_after(meaning));

    if (meaning.delivery != verdict_on_delivery::done) return fail(at, meaning, std::move(attempt));
    ++x_parts.counters.attempts_succeeded;
    tell(attempt, *at->second.what.event);
    done(at);
}

void delivery_machine::answered_test(iterator at, const delivery_answer& answer, schemas::attempt&& attempt) {
    const bool well = answer.error == delivery_error::none;
    ++(well ? x_parts.counters.attempts_succeeded : x_parts.counters.attempts_failed);
    attempt.result = well ? attempt_result::succeeded : attempt_result::dead;
    tell(attempt, *at->second.what.event);
    leave_lane(at, receiver_state::unknown);
    done(at);
}

void delivery_machine::fail(iterator at, const answer_meaning& meaning, schemas::attempt&& attempt) {
    delivery_in_memory& mine = at->second;
    schemas::delivery& record = mine.what.record;
    ++x_parts.counters.attempts_failed;
    std::string dead_because;
    std::int64_t wait_ms = 0;
    if (meaning.delivery == verdict_on_delivery::dead) {
        dead_because = meaning.reason;
    } else if (const auto scheduled_ms = wait_after(record.attempts_made, x_parts.random); !scheduled_ms) {
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
    tell(attempt, *at->second.what.event);
    if (!mine.part.wanted()) return forget(at);  // the partition's next owner makes this attempt again
    if (!dead) return write_wait(at, wait_ms, &worker_counters::retried);
    ++x_parts.counters.dead;
    write_dead(at, std::move(dead_because));
}

void delivery_machine::leave_lane(iterator at, receiver_state state) {
    const schemas::delivery& record = at->second.what.record;
    x_active_ids.erase(record.id);
    at->second.handle.reset();
    carry_out(x_lanes.finished(record.webhook_id, at->first, state, now_ms()));
}

/// A time that is further off than any receiver may ask for was told by a clock of the log that has gone back
/// since, perhaps by days: nobody knows what is left of it.
std::int64_t delivery_machine::parked_for_ms(const schemas::delivery& record) const {
    const std::int64_t wait_ms = record.parked_until_ms - log_ms();
    return wait_ms > limits::parked_ms_max + limits::clocks_apart_ms_max
               ? 0
               : std::min(wait_ms, limits::parked_ms_max);
}

void delivery_machine::park(schemas::webhook_id webhook, std::int64_t until_ms) {
    const std::int64_t wait_ms = std::clamp<std::int64_t>(until_ms - log_ms(), 0, limits::parked_ms_max);
    carry_out(x_lanes.park(webhook, now_ms() + wait_ms, now_ms()));
}

// --- no attempt ---

void delivery_machine::skip(iterator at, std::string message, delivery_error error) {
    ++x_parts.counters.skipped;
    write_no_attempt(at->second.what, {attempt_result::skipped, error, std::move(message), log_ms()});
    done(at);
}

/// The event found the webhook enabled, so it is kept for replay (P3); the delivery log alone may lose
/// records.
void delivery_machine::hold(iterator at) {
    const std::string message = "held: the webhook is disabled";
    ++x_parts.counters.held;
    write_no_attempt(at->second.what, {attempt_result::held, delivery_error::none, message, log_ms()});
    write_dead(at, message);
}

void delivery_machine::bury(iterator at, std::string why) {
    ++x_parts.counters.dead;
    write_no_attempt(at->second.what, {attempt_result::dead, delivery_error::none, why, log_ms()});
    write_dead(at, std::move(why));
}

void delivery_machine::expire_test(iterator at) {
    skip(at, "the test was not attempted before its deadline", delivery_error::timeout);
}

/// What waits for room alone says nothing of its receiver, and does not count towards the cap.
void delivery_machine::spill(iterator at, const lane_action& how) {
    schemas::delivery& record = at->second.what.record;
    if (is_test(at->second))
        return skip(at, "too many tests of this webhook wait already", delivery_error::busy);
    record.waits_for_room = how.reason == spill_reason::no_room;
    if (record.waits_for_room) {
        if (how.wait_ms == 0) return spill_for_room(at);
        return write_wait(at, how.wait_ms, &worker_counters::spilled);
    }
    if (backlog_full(record.webhook_id))
        return bury(at, "too many deliveries of this webhook wait for another attempt");
    std::int64_t wait_ms = how.wait_ms;
    if (how.reason == spill_reason::parked) record.parked_until_ms = log_ms() + wait_ms;
    if (how.reason == spill_reason::troubled) wait_ms = wait_of_troubled(record.spills++);
    // Rather just after it may be probed than before.
    if (how.reason == spill_reason::breaker_open) wait_ms += retry_wait_ms_min - 1;
    write_wait(at, wait_ms, &worker_counters::spilled);
}

void delivery_machine::spill_for_room(iterator at) {
    at->second.what.record.wait_left_ms = 0;
    ++x_parts.counters.spilled;
    write(at, events::log::topic::waiting);
}

// --- successors ---

/// A wait shorter than the shortest tier takes that one: whoever asks has found that it is not due.
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
    delivery_in_memory& mine = at->second;
    std::string value = encode(mine.what);
    mine.at = stage::writing;
    mine.writing_bytes = value.size();
    x_writing_bytes += value.size();
    x_waiting.erase(at->first);
    x_parts.writer.write(
        topic, mine.what.record.webhook_id, std::move(value), [part = mine.part] { return part.wanted(); },
        x_lifetime.guard([this, key = at->first](const result<void>& outcome) {
            const auto written = x_deliveries.find(key);
            if (written == x_deliveries.end()) return;  // its partition was revoked meanwhile
            if (outcome) return done(written);
            cannot_be_kept(written, outcome.error());
        }));
}

/// The log takes no record as large as this one: its place in the log of events is done all the same, and
/// what can be kept of it is.
void delivery_machine::cannot_be_kept(iterator at, const error& why) {
    delivery_in_memory& mine = at->second;
    x_writing_bytes -= std::exchange(mine.writing_bytes, 0);
    if (mine.what.event->body.empty()) return done(at);  // nothing can be kept; the writer has said why
    schemas::event without_body = *mine.what.event;
    without_body.body.clear();
    mine.what.event = std::make_shared<const schemas::event>(std::move(without_body));
    std::string reason = "too large to be kept: " + why.message;
    if (!mine.is_dead) return bury(at, std::move(reason));
    write_dead(at, mine.what.record.reason + "; " + reason);
}

void delivery_machine::write_no_attempt(const delivery_of_event& what, const no_attempt& why) {
    tell(record_of(what, why), *what.event);
}

// --- the rest ---

void delivery_machine::tell(const schemas::attempt& attempt, const schemas::event& event) {
    x_parts.writer.write_attempt(attempt);
    const schemas::subscriber* row = x_parts.subscribers.find(attempt.webhook_id);
    x_report.saw(attempt, event, row ? std::string_view(row->name) : std::string_view(), now_ms());
}

void delivery_machine::done(iterator at) {
    const record_part part = at->second.part;
    forget(at);
    part.done();
}

void delivery_machine::forget(iterator at) {
    x_waiting.erase(at->first);
    x_tests.erase(at->first);
    x_writing_bytes -= at->second.writing_bytes;
    auto& held = at->second.part.of->held;
    const auto mine = held.find(at->second.what.record.webhook_id);
    if (--mine->second == 0) held.erase(mine);
    x_deliveries.erase(at);
}

bool delivery_machine::is_test(const delivery_in_memory& mine) const noexcept {
    return mine.what.record.source == delivery_source::test;
}

bool delivery_machine::is_late(const delivery_in_memory& mine) const noexcept {
    // While the log's clock is not known a test that nobody waits for any more must not be sent either.
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
