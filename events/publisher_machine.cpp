#include "events/publisher_machine.hpp"

#include <algorithm>

#include "events/subscriber_table.hpp"
#include "events/topics.hpp"
#include "runtime/assert.hpp"
#include "runtime/limits.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "runtime/text.hpp"
#include "schemas/binary.hpp"

namespace herald::events {
namespace {

const topic_partition subscribers_partition{std::string(topic::subscribers), 0};

/// The sequence to go on with, by the partition's end; none when its end is of a later generation. Too low is
/// always safe (consumers drop what they had), too high never.
std::optional<std::uint64_t> resume_at(const std::optional<partition_tail>& tail, std::uint32_t generation,
                                       std::uint64_t published) {
    if (!tail || tail->generation < generation) return published + 1;
    if (tail->generation > generation) return std::nullopt;
    return tail->sequence + 1;
}

}  // namespace

publisher_actions publisher_machine::start(std::int64_t now_ms) {
    HERALD_ASSERT(x_state == state::stopped);
    x_cursors.clear();
    for (topic_partition& where : x_outbox.output_partitions())
        x_cursors.push_back({.where = std::move(where)});
    x_failures_in_a_row = 0;
    begin(now_ms);
    return take();
}

publisher_actions publisher_machine::stop() {
    if (x_state == state::stopped) return {};
    if (x_state == state::running) end_epoch();
    x_state = state::stopped;
    return take();
}

publisher_actions publisher_machine::woken(std::int64_t now_ms) {
    if (x_state == state::running) pump(now_ms);
    return take();
}

publisher_actions publisher_machine::tail_read(std::uint64_t epoch, std::size_t stream,
                                               std::optional<partition_tail> tail, std::int64_t now_ms) {
    if (epoch != x_epoch || x_state != state::running) return {};
    cursor& here = x_cursors.at(stream);
    HERALD_ASSERT(here.state == cursor_state::reading && x_tails_being_read > 0);
    x_progress_ms = now_ms;
    --x_tails_being_read;
    const auto next = resume_at(tail, x_outbox.generation(), x_outbox.published(here.where));
    if (next) {
        here.state = cursor_state::publishing;
        here.next = *next;
        here.acknowledged = std::max(here.acknowledged, *next - 1);
    } else {
        here.state = cursor_state::outdated;
        runtime::log(runtime::log_level::error, runtime::log_events::publisher_outdated,
                     {{"topic", here.where.topic}, {"partition", here.where.partition}});
    }
    read_tails();
    pump(now_ms);
    return take();
}

publisher_actions publisher_machine::subscribers_read(std::uint64_t epoch, const topic_content& content,
                                                      std::int64_t now_ms) {
    if (epoch != x_epoch || x_state != state::running) return {};
    HERALD_ASSERT(x_subscribers.state == subscribers_state::comparing);
    x_progress_ms = now_ms;
    x_subscribers.compared_ms = now_ms;
    compare_subscribers(content);
    pump(now_ms);
    return take();
}

publisher_actions publisher_machine::acknowledged(const append_ticket& ticket, std::int64_t now_ms) {
    if (ticket.epoch != x_epoch || x_state != state::running) return {};
    HERALD_ASSERT(x_records_in_flight > 0 && x_bytes_in_flight >= ticket.bytes);
    --x_records_in_flight;
    x_bytes_in_flight -= ticket.bytes;
    x_progress_ms = now_ms;
    x_failures_in_a_row = 0;
    if (ticket.stream == x_cursors.size()) {
        --x_subscribers.unacknowledged;
        pump_subscribers(now_ms);
    } else {
        cursor& here = x_cursors[ticket.stream];
        here.acknowledged = std::max(here.acknowledged, ticket.sequence);
    }
    if (x_more_to_send && x_records_in_flight <= limits::publisher_records_in_flight_max / 2) pump(now_ms);
    return take();
}

publisher_actions publisher_machine::failed(std::uint64_t epoch, std::int64_t now_ms) {
    if (epoch == x_epoch && x_state == state::running) give_up(now_ms);
    return take();
}

publisher_actions publisher_machine::time_passed(std::int64_t now_ms) {
    if (x_state == state::resting && now_ms >= x_rest_until_ms) {
        begin(now_ms);
    } else if (x_state == state::running) {
        const bool idle = x_subscribers.state == subscribers_state::idle;
        if (waits_for_the_log() && now_ms - x_progress_ms >= limits::publisher_stall_ms_max) {
            give_up(now_ms);
        } else if (idle && now_ms - x_subscribers.compared_ms >= limits::subscribers_compare_interval_ms) {
            x_subscribers.state = subscribers_state::comparing;
            x_progress_ms = now_ms;
            x_actions.push_back(action::read_subscribers{x_epoch});
        }
    }
    return take();
}

void publisher_machine::progressed(std::uint64_t epoch, std::int64_t now_ms) {
    if (epoch == x_epoch) x_progress_ms = now_ms;
}

std::vector<schemas::published_position> publisher_machine::published() const {
    std::vector<schemas::published_position> positions;
    for (const cursor& here : x_cursors)
        if (here.acknowledged > x_outbox.published(here.where))
            positions.push_back(
                {here.where.topic, static_cast<std::uint32_t>(here.where.partition), here.acknowledged});
    return positions;
}

// ---- epochs
// ---------------------------------------------------------------------------------------------------

void publisher_machine::begin(std::int64_t now_ms) {
    ++x_epoch;
    x_state = state::running;
    x_progress_ms = now_ms;
    x_records_in_flight = 0;
    x_bytes_in_flight = 0;
    x_tails_being_read = 0;
    for (cursor& here : x_cursors) here.state = cursor_state::unread;
    x_subscribers = {};
    x_actions.push_back(action::open_producer{});
    x_actions.push_back(action::read_subscribers{x_epoch});
    read_tails();
}

void publisher_machine::end_epoch() {
    ++x_epoch;
    x_actions.clear();
    x_actions.push_back(action::close_producer{});
}

void publisher_machine::give_up(std::int64_t now_ms) {
    end_epoch();
    x_state = state::resting;
    const std::int64_t rest = limits::publisher_rest_ms_base << std::min(x_failures_in_a_row, 16u);
    ++x_failures_in_a_row;
    x_rest_until_ms = now_ms + std::min(rest, limits::publisher_rest_ms_max);
    x_actions.push_back(action::wake_at{x_rest_until_ms});
}

void publisher_machine::read_tails() {
    for (std::size_t stream = 0; stream < x_cursors.size(); ++stream) {
        if (x_tails_being_read == limits::publisher_tails_at_once_max) return;
        if (x_cursors[stream].state != cursor_state::unread) continue;
        x_cursors[stream].state = cursor_state::reading;
        ++x_tails_being_read;
        x_actions.push_back(action::read_tail{x_epoch, stream, x_cursors[stream].where});
    }
}

// ---- sending
// ----------------------------------------------------------------------------------------------------

void publisher_machine::pump(std::int64_t now_ms) {
    x_more_to_send = false;
    pump_subscribers(now_ms);
    pump_events(now_ms);
}

/// A partition with many rows takes turns with the others.
void publisher_machine::pump_events(std::int64_t now_ms) {
    std::size_t exhausted = 0;
    while (exhausted < x_cursors.size()) {
        if (!has_room()) {
            x_more_to_send = true;
            return;
        }
        const bool may_have_more = publish_rows(x_turn, now_ms);
        exhausted = may_have_more ? 0 : exhausted + 1;
        x_turn = (x_turn + 1) % x_cursors.size();
    }
}

/// False when there is no more to publish now.
bool publisher_machine::publish_rows(std::size_t stream, std::int64_t now_ms) {
    cursor& here = x_cursors[stream];
    if (here.state != cursor_state::publishing) return false;
    std::vector<outbox_row> rows = x_outbox.rows(here.where, here.next, limits::publisher_rows_per_read_max);
    for (outbox_row& row : rows) {
        if (!has_room()) return true;
        HERALD_ASSERT(row.sequence >= here.next);
        here.next = row.sequence + 1;
        send({x_epoch, stream, row.sequence}, {std::move(row.key), std::move(row.value)}, now_ms);
    }
    return rows.size() == limits::publisher_rows_per_read_max;
}

void publisher_machine::send(append_ticket ticket, change what, std::int64_t now_ms) {
    ticket.bytes = what.key.size() + what.value.value_or("").size();
    if (x_records_in_flight == 0) x_progress_ms = now_ms;
    ++x_records_in_flight;
    x_bytes_in_flight += ticket.bytes;
    const bool is_event = ticket.stream < x_cursors.size();
    x_actions.push_back(action::append{ticket,
                                       is_event ? x_cursors[ticket.stream].where : subscribers_partition,
                                       std::move(what.key), std::move(what.value)});
}

bool publisher_machine::has_room() const {
    return x_records_in_flight < limits::publisher_records_in_flight_max &&
           x_bytes_in_flight < limits::publisher_bytes_in_flight_max;
}

bool publisher_machine::waits_for_the_log() const {
    return x_records_in_flight > 0 || x_tails_being_read > 0 ||
           x_subscribers.state == subscribers_state::comparing;
}

// ---- subscribers
// --------------------------------------------------------------------------------------------------

void publisher_machine::pump_subscribers(std::int64_t now_ms) {
    do {
        while (!x_subscribers.queue.empty()) {
            if (!has_room()) {
                x_more_to_send = true;
                return;
            }
            ++x_subscribers.unacknowledged;
            send({x_epoch, x_cursors.size()}, std::move(x_subscribers.queue.front()), now_ms);
            x_subscribers.queue.pop_front();
        }
    } while (x_subscribers.unacknowledged == 0 && next_subscriber_step());
}

/// What was queued is acknowledged: on to the head, then to the next changes. False when there is nothing to
/// do.
bool publisher_machine::next_subscriber_step() {
    subscriber_writer& here = x_subscribers;
    switch (here.state) {
        case subscribers_state::comparing:
            return false;
        case subscribers_state::writing: {
            here.state = subscribers_state::writing_head;
            if (!here.head_is_due) return true;
            const schemas::subscribers_head head{x_outbox.generation(), here.target};
            here.queue.push_back({std::string(subscribers_head_key), schemas::encode(head)});
            return true;
        }
        case subscribers_state::writing_head:
            here.written = here.target;
            here.state = subscribers_state::idle;
            return true;
        case subscribers_state::idle:
            break;
    }
    if (x_outbox.last_subscriber_change() <= here.written) return false;
    for (subscriber_change& changed :
         x_outbox.subscriber_changes(here.written, limits::subscriber_changes_per_read_max)) {
        here.target = changed.offset;
        std::optional<std::string> value;
        if (changed.row) value = schemas::encode(*changed.row);
        here.queue.push_back({subscriber_key(changed.webhook_id), std::move(value)});
    }
    if (here.queue.empty()) return false;
    here.head_is_due = true;
    here.state = subscribers_state::writing;
    return true;
}

/// Queues what the topic, once compacted, would lack or have otherwise than the state. A row newer than the
/// state was written by a holder of the claim that was ahead: it is left alone, its change is applied here
/// too before long.
void publisher_machine::compare_subscribers(const topic_content& content) {
    subscriber_writer& here = x_subscribers;
    const std::uint32_t generation = x_outbox.generation();
    here.target = x_outbox.last_subscriber_change();  // before the rows: they may be newer, never older

    schemas::subscribers_head head;
    if (const auto found = content.find(std::string(subscribers_head_key)); found != content.end())
        if (const auto decoded = schemas::decode<schemas::subscribers_head>(found->second)) head = *decoded;
    // A new generation says so first: from there on what readers kept of the one before counts no longer.
    const bool new_generation = head.generation < generation;
    if (new_generation)
        here.queue.push_back(
            {std::string(subscribers_head_key), schemas::encode(schemas::subscribers_head{generation, 0})});
    const auto is_newer = [&](const std::string& value) {
        const auto row = schemas::decode<schemas::subscriber>(value);
        return row && !new_generation && row->revision > here.target;
    };

    topic_content surplus = content;
    surplus.erase(std::string(subscribers_head_key));
    for (const schemas::subscriber& row : x_outbox.subscribers()) {
        const std::string key = subscriber_key(row.webhook_id);
        std::string value = schemas::encode(row);
        const auto found = surplus.find(key);
        if (found == surplus.end() || (found->second != value && !is_newer(found->second)))
            here.queue.push_back({key, std::move(value)});
        if (found != surplus.end()) surplus.erase(found);
    }
    for (const auto& [key, value] : surplus)
        if (!is_newer(value)) here.queue.push_back({key, std::nullopt});
    here.head_is_due = here.target > (new_generation ? 0 : head.offset);
    here.state = subscribers_state::writing;
}

}  // namespace herald::events
