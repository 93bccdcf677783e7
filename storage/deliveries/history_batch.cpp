#include "storage/deliveries/history_batch.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "schemas/latency_buckets.hpp"
#include "storage/deliveries/history_lists.hpp"
#include "storage/deliveries/limits.hpp"

namespace herald::storage::deliveries {
namespace {

using schemas::attempt;
using schemas::attempt_result;
using schemas::delivery_row;
using schemas::delivery_state;

std::string row_key(const std::string& id) { return history_key('d').end(delivery_key(id)).bytes(); }

/// `begun`: of_workspace() or of_webhook().
std::string index_key(history_key begun, const delivery_row& row) {
    return begun.end(bytes_of(facts_of(row)))
        .newest_first(row.time_event_ms)
        .end(delivery_key(row.id))
        .bytes();
}

std::array<std::string, 2> index_keys(const delivery_row& row) {
    return {index_key(of_workspace('O', row.workspace_id), row),
            index_key(of_webhook('P', row.workspace_id, row.webhook_id), row)};
}

std::string count_key(history_key begun, count_unit unit, const delivery_row& row) {
    return begun.byte(static_cast<std::uint8_t>(unit))
        .short_number(unit_of(row.time_event_ms, unit))
        .end(bytes_of(facts_of(row)))
        .bytes();
}

std::string row_value(const delivery_row& row) {
    std::string value;
    schemas::append_big_endian(value, static_cast<std::uint64_t>(row.time_event_ms));
    value += static_cast<char>(row.state);
    schemas::append_encoded(value, row);
    return value;
}

delivery_row first_row_of(const attempt& made) {
    delivery_row row;
    row.id = made.delivery_id;
    row.webhook_id = made.webhook_id;
    row.event_id = made.event_id;
    row.event_type = made.event_type;
    row.resource_type = made.resource_type;
    row.resource_id = made.resource_id;
    row.workspace_id = made.workspace_id;
    row.time_event_ms = std::max<std::int64_t>(0, made.time_event_ms ? made.time_event_ms : made.time_ms);
    return row;
}

/// The newest attempt decides; what took the place of one leaves what the receiver answered last. One beside
/// a schedule ends nothing by its failure, and takes nothing back.
void follow(delivery_row& row, const attempt& made) {
    row.attempts = std::max(row.attempts, made.number);
    const bool goes_on = made.is_extra && made.result == attempt_result::will_retry;
    if (made.time_ms < row.last_ms || (goes_on && row.state != delivery_state::waiting)) return;
    row.state = schemas::state_after(made.result);
    row.last_ms = made.time_ms;
    row.last_message = made.message;
    row.last_source = made.source;
    if (made.number != 0 || made.error != schemas::delivery_error::none) {
        row.last_status = made.status;
        row.last_error = made.error;
        row.last_total_us = made.total_us;
    }
    if (!goes_on) row.next_attempt_ms = made.next_attempt_ms;
    row.time_done_ms = row.state == delivery_state::waiting ? 0 : made.time_ms;
}

bool is_test(const attempt& made) noexcept { return made.source == schemas::delivery_source::test; }

void add_time(schemas::attempts_of_hour& hour, std::uint32_t total_us) {
    const std::uint32_t bucket = schemas::latency_bucket_of(total_us);
    if (hour.total_us_buckets.size() <= bucket) hour.total_us_buckets.resize(bucket + 1);
    ++hour.total_us_buckets[bucket];
}

}  // namespace

std::uint64_t count_in(std::string_view value) noexcept {
    std::uint64_t number = 0;
    return schemas::take_varint(value, number) ? number : 0;
}

template <schemas::described Row>
Row history_batch::read(const std::string& key) const {
    Row row{};
    if (const auto value = x_open.get(key)) schemas::decode_into(row, *value);
    return row;
}

history_batch::row_change& history_batch::row_of(const std::string& id) {
    const auto [at, is_new] = x_rows.try_emplace(id);
    if (!is_new) return at->second;
    if (auto row = read_row(x_open, delivery_key(id)))
        at->second.now = at->second.before.emplace(*std::move(row));
    return at->second;
}

void history_batch::keep(std::int32_t partition, std::uint64_t offset, const attempt& made) {
    put_attempt(partition, offset, made);
    row_change& row = row_of(made.delivery_id);
    if (row.now.id.empty()) row.now = first_row_of(made);
    follow(row.now, made);
    x_newest_ms = std::max(x_newest_ms, made.time_ms);
    if (is_test(made)) return;
    if (made.number != 0) count_attempt(made);
    if (made.replay_id != 0) count_replay(made);
}

void history_batch::expect(delivery_row fresh) {
    row_change& row = row_of(fresh.id);
    if (row.now.id.empty()) row.now = std::move(fresh);
}

void history_batch::put_attempt(std::int32_t partition, std::uint64_t offset, const attempt& made) {
    const auto number = static_cast<std::uint64_t>(partition);
    schemas::attempt_bodies bodies{made.request_headers, made.response_headers, made.response_body};
    attempt small = made;
    small.request_headers.clear();
    small.response_headers.clear();
    small.response_body.clear();
    put(history_key('a').text(made.delivery_id).time(made.time_ms).number(number).number(offset).bytes(),
        schemas::encode(small));
    if (made.number == 0) return;
    x_batch.Put(x_open.bodies(),
                history_key().time(made.time_ms).text(made.delivery_id).number(number).number(offset).bytes(),
                schemas::encode(bodies));
}

void history_batch::count_attempt(const attempt& made) {
    const auto [at, is_new] = x_webhooks.try_emplace(made.webhook_id);
    webhook_change& change = at->second;
    const std::uint64_t webhook = made.webhook_id.value;
    if (is_new) change.recent = read<schemas::recent_attempts>(history_key('h').number(webhook).bytes());
    auto& recent = change.recent.attempts;
    recent.push_back({made.time_ms, made.status, made.error, made.total_us});
    if (recent.size() > limits::recent_attempts_kept)
        recent.erase(recent.begin(), recent.end() - limits::recent_attempts_kept);
    const std::uint32_t number = unit_of(made.time_ms, count_unit::hour);
    const auto [hour, is_first] = change.hours.try_emplace(number);
    if (is_first)
        hour->second =
            read<schemas::attempts_of_hour>(history_key('l').number(webhook).short_number(number).bytes());
    ++(made.result == attempt_result::succeeded ? hour->second.succeeded : hour->second.failed);
    add_time(hour->second, made.total_us);
}

/// Sent again, as after a crash, it still counts once.
void history_batch::count_replay(const attempt& made) {
    const std::string key =
        history_key('y').number(made.replay_id).end(delivery_key(made.delivery_id)).bytes();
    const auto [at, is_new] = x_outcomes.try_emplace(key);
    outcome_change& known = at->second;
    if (is_new)
        if (const auto value = x_open.get(key); value && value->size() == 9)
            known.what = static_cast<replay_outcome>(value->back());
    const auto [sum, is_first] = x_replays.try_emplace(made.replay_id);
    if (is_first)
        sum->second = read<schemas::replay_outcomes>(history_key('Y').number(made.replay_id).bytes());
    const replay_outcome before = known.what;
    const replay_outcome now =
        made.result == attempt_result::succeeded ? replay_outcome::delivered : replay_outcome::failed;
    known = {made.time_ms, now};
    if (before == now) return;
    if (before == replay_outcome::delivered) --sum->second.delivered;
    if (before == replay_outcome::failed) --sum->second.failed;
    ++(now == replay_outcome::delivered ? sum->second.delivered : sum->second.failed);
}

void history_batch::count(const delivery_row& row, std::int64_t by) {
    for (const count_unit unit : {count_unit::minute, count_unit::hour}) {
        x_counts[count_key(of_workspace('n', row.workspace_id), unit, row)] += by;
        x_counts[count_key(of_webhook('m', row.workspace_id, row.webhook_id), unit, row)] += by;
    }
}

void history_batch::finish_row(const row_change& change) {
    const delivery_row& now = change.now;
    if (change.before == now) return;
    put(row_key(now.id), row_value(now));
    if (now.last_source == schemas::delivery_source::test) return;
    const bool is_new = !change.before;
    if (is_new) {
        put(of_workspace('R', now.workspace_id)
                .byte(static_cast<std::uint8_t>(now.resource_type))
                .text(now.resource_id)
                .newest_first(now.time_event_ms)
                .end(delivery_key(now.id))
                .bytes(),
            "");
        put(history_key('E').text(now.event_id).end(delivery_key(now.id)).bytes(),
            history_key().time(now.time_event_ms).bytes());
    } else {
        if (facts_of(*change.before) == facts_of(now)) return;
        for (const std::string& key : index_keys(*change.before)) x_batch.Delete(x_open.rows(), key);
        count(*change.before, -1);
    }
    for (const std::string& key : index_keys(now)) put(key, "");
    count(now, 1);
}

void history_batch::finish() {
    for (const auto& [id, change] : x_rows) finish_row(change);
    for (const auto& [key, by] : x_counts) {
        if (by == 0) continue;
        const auto known = x_open.get(key);
        const auto sum = static_cast<std::int64_t>(known ? count_in(*known) : 0) + by;
        std::string value;
        schemas::append_varint(value, static_cast<std::uint64_t>(std::max<std::int64_t>(0, sum)));
        put(key, value);
    }
    for (const auto& [id, change] : x_webhooks) {
        put(history_key('h').number(id.value).bytes(), schemas::encode(change.recent));
        for (const auto& [hour, attempts] : change.hours)
            put(history_key('l').number(id.value).short_number(hour).bytes(), schemas::encode(attempts));
    }
    for (const auto& [key, outcome] : x_outcomes)
        put(key, history_key().time(outcome.time_ms).byte(static_cast<std::uint8_t>(outcome.what)).bytes());
    for (const auto& [id, outcomes] : x_replays)
        put(history_key('Y').number(id).bytes(), schemas::encode(outcomes));
}

}  // namespace herald::storage::deliveries
