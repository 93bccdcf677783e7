#include "events/publisher_machine.hpp"

#include <algorithm>

#include "events/limits.hpp"
#include "events/log/topics.hpp"
#include "events/subscriber_table.hpp"
#include "runtime/assert.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "schemas/binary.hpp"

namespace herald::events {
namespace {

using log::topic_partition;

const topic_partition subscribers_partition{std::string(log::topic::subscribers), 0};

/// The sequence to resume at, given the partition's end; empty when the end belongs to a later generation.
/// Too low is always safe (consumers drop duplicates); too high never is.
std::optional<std::uint64_t> resume_at(const std::optional<partition_tail>& tail, std::uint32_t generation,
                                       std::uint64_t published) {
    if (!tail || tail->generation < generation) return published + 1;
    if (tail->generation > generation) return std::nullopt;
    return tail->sequence + 1;
}

std::int64_t rest_ms(unsigned failures_before) {
    return std::min(limits::publisher_rest_ms_base << std::min(failures_before, 16u),
                    limits::publisher_rest_ms_max);
}

std::string name_of(const topic_partition& where) {
    return where.topic + "[" + std::to_string(where.partition) + "]";
}

}  // namespace

publisher_actions publisher_machine::start(std::int64_t now_ms) {
    HERALD_ASSERT(x_state == state::stopped);
    x_cursors.clear();
    for (topic_partition& where : x_outbox.output_partitions())
        x_cursors.push_back({.where = std::move(where)});
    x_flows.assign(x_cursors.size() + 1, {});
    x_rests.forget();
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
    if (!is_of_this_epoch(epoch)) return {};
    cursor& here = x_cursors.at(stream);
    HERALD_ASSERT(here.state == cursor_state::reading && x_tails_being_read > 0);
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
    read_what_is_due(now_ms);
    pump(now_ms);
    flow& its = x_flows[stream];
    if (its.records_in_flight == 0) goes_on(stream);  // otherwise the appends in flight will tell
    return take();
}

publisher_actions publisher_machine::subscribers_read(std::uint64_t epoch, const topic_content& content,
                                                      std::int64_t now_ms) {
    if (!is_of_this_epoch(epoch)) return {};
    HERALD_ASSERT(x_subscribers.state == subscribers_state::comparing);
    x_subscribers.compared_ms = now_ms;
    goes_on(subscribers_stream());
    compare_subscribers(content);
    pump(now_ms);
    return take();
}

publisher_actions publisher_machine::read_failed(std::uint64_t epoch, std::size_t stream, const error& reason,
                                                 std::int64_t now_ms) {
    if (!is_of_this_epoch(epoch) || !is_being_read(stream)) return {};
    end_read(stream, reason, now_ms);
    read_what_is_due(now_ms);
    pump(now_ms);
    return take();
}

publisher_actions publisher_machine::acknowledged(const append_ticket& ticket, std::int64_t now_ms) {
    if (!is_of_this_epoch(ticket.epoch)) return {};
    flow& its = x_flows[ticket.stream];
    HERALD_ASSERT(its.records_in_flight > 0 && its.bytes_in_flight >= ticket.bytes);
    --its.records_in_flight;
    its.bytes_in_flight -= ticket.bytes;
    --x_records_in_flight;
    x_bytes_in_flight -= ticket.bytes;
    its.progress_ms = now_ms;
    goes_on(ticket.stream);
    x_failures_in_a_row = 0;
    if (ticket.stream == subscribers_stream()) {
        --x_subscribers.unacknowledged;
        pump_subscribers(now_ms);
    } else {
        cursor& here = x_cursors[ticket.stream];
        here.acknowledged = std::max(here.acknowledged, ticket.sequence);
        if (its.has_more_to_send && its.records_in_flight <= records_max(ticket.stream) / 2)
            while (publish_rows(ticket.stream, now_ms)) {
            }
    }
    if (x_has_more_to_send && x_records_in_flight <= limits::publisher_records_in_flight_max / 2)
        pump(now_ms);
    return take();
}

publisher_actions publisher_machine::append_failed(const append_ticket& ticket, const error& reason,
                                                   std::int64_t now_ms) {
    if (!is_of_this_epoch(ticket.epoch)) return {};
    if (ticket.stream != subscribers_stream() && reason.code == error_code::invalid_argument)
        judge_refusal(ticket, reason);
    rest(ticket.stream, reason, now_ms);
    give_up(now_ms);
    return take();
}

publisher_actions publisher_machine::time_passed(std::int64_t now_ms) {
    if (x_state == state::resting && now_ms >= x_rest_until_ms) {
        begin(now_ms);
    } else if (x_state == state::running && is_stalled(now_ms)) {
        give_up(now_ms);
    } else if (x_state == state::running) {
        end_silent_reads(now_ms);
        read_what_is_due(now_ms);
    }
    return take();
}

void publisher_machine::progressed(std::uint64_t epoch, std::size_t stream, std::int64_t now_ms) {
    if (is_of_this_epoch(epoch)) x_flows[stream].progress_ms = now_ms;
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
    x_records_in_flight = 0;
    x_bytes_in_flight = 0;
    x_tails_being_read = 0;
    x_has_more_to_send = false;
    for (cursor& here : x_cursors) here.state = cursor_state::unread;
    for (flow& each : x_flows) {
        each.records_in_flight = 0;
        each.bytes_in_flight = 0;
        each.has_more_to_send = false;
    }
    x_subscribers = {};
    x_actions.push_back(action::open_producer{});
    read_what_is_due(now_ms);
}

void publisher_machine::end_epoch() {
    ++x_epoch;
    x_actions.clear();
    x_actions.push_back(action::close_producer{});
}

void publisher_machine::give_up(std::int64_t now_ms) {
    end_epoch();
    x_state = state::resting;
    x_rest_until_ms = now_ms + rest_ms(x_failures_in_a_row++);
    x_actions.push_back(action::wake_at{x_rest_until_ms});
}

bool publisher_machine::is_of_this_epoch(std::uint64_t epoch) const {
    return epoch == x_epoch && x_state == state::running;
}

/// One partition that takes nothing is enough: only a new producer gives up the records of the old one.
bool publisher_machine::is_stalled(std::int64_t now_ms) const {
    return std::any_of(x_flows.begin(), x_flows.end(), [&](const flow& each) {
        return each.records_in_flight > 0 && now_ms - each.progress_ms >= limits::publisher_stall_ms_max;
    });
}

// ---- reading
// --------------------------------------------------------------------------------------------------

bool publisher_machine::is_being_read(std::size_t stream) const {
    if (stream == subscribers_stream()) return x_subscribers.state == subscribers_state::comparing;
    return x_cursors[stream].state == cursor_state::reading;
}

void publisher_machine::rest(std::size_t stream, const error& reason, std::int64_t now_ms) {
    flow& its = x_flows[stream];
    x_rests.fails(reason.message, name_of(place_of(stream)));
    its.rest_until_ms = now_ms + rest_ms(its.failures_in_a_row++);
    x_actions.push_back(action::wake_at{its.rest_until_ms});
}

void publisher_machine::goes_on(std::size_t stream) {
    if (std::exchange(x_flows[stream].failures_in_a_row, 0) > 0) x_rests.works(name_of(place_of(stream)));
}

void publisher_machine::end_read(std::size_t stream, const error& reason, std::int64_t now_ms) {
    if (stream == subscribers_stream()) {
        x_subscribers.state = x_subscribers.compared_ms ? subscribers_state::idle : subscribers_state::unread;
    } else {
        x_cursors[stream].state = cursor_state::unread;
        --x_tails_being_read;
    }
    rest(stream, reason, now_ms);
}

void publisher_machine::end_silent_reads(std::int64_t now_ms) {
    for (std::size_t stream = 0; stream < x_flows.size(); ++stream) {
        if (!is_being_read(stream)) continue;
        if (now_ms - x_flows[stream].progress_ms < limits::publisher_read_ms_max) continue;
        x_actions.push_back(action::end_read{stream});
        end_read(stream, runtime::unavailable("its leader is silent"), now_ms);
    }
}

void publisher_machine::read_what_is_due(std::int64_t now_ms) {
    flow& of_subscribers = x_flows[subscribers_stream()];
    const subscriber_writer& writer = x_subscribers;
    const bool wanted = writer.state == subscribers_state::unread ||
                        (writer.state == subscribers_state::idle &&
                         now_ms - *writer.compared_ms >= limits::subscribers_compare_interval_ms);
    if (wanted && now_ms >= of_subscribers.rest_until_ms) {
        x_subscribers.state = subscribers_state::comparing;
        of_subscribers.progress_ms = now_ms;
        x_actions.push_back(action::read_subscribers{x_epoch, subscribers_stream()});
    }
    while (x_tails_being_read < limits::publisher_tails_at_once_max) {
        const auto stream = next_tail(now_ms);
        if (!stream) return;
        x_cursors[*stream].state = cursor_state::reading;
        ++x_tails_being_read;
        x_flows[*stream].progress_ms = now_ms;
        x_actions.push_back(action::read_tail{x_epoch, *stream, x_cursors[*stream].where});
    }
}

/// The one that has been due longest, so that those that keep failing do not make the others wait.
std::optional<std::size_t> publisher_machine::next_tail(std::int64_t now_ms) const {
    std::optional<std::size_t> next;
    for (std::size_t stream = 0; stream < x_cursors.size(); ++stream) {
        const std::int64_t due_ms = x_flows[stream].rest_until_ms;
        if (x_cursors[stream].state != cursor_state::unread || due_ms > now_ms) continue;
        if (!next || due_ms < x_flows[*next].rest_until_ms) next = stream;
    }
    return next;
}

// ---- rows that the log refuses
// --------------------------------------------------------------------------------

/// A log refuses whole batches: only a row that was sent alone is known to be the cause.
void publisher_machine::judge_refusal(const append_ticket& ticket, const error& reason) {
    cursor& here = x_cursors[ticket.stream];
    if (ticket.sequence > here.alone_up_to) {
        here.alone_up_to = here.next - 1;
        return;
    }
    if (!here.refused || here.refused->sequence != ticket.sequence) ++x_rows_refused;
    here.refused = {ticket.sequence, reason.message};
}

std::string publisher_machine::marker_of(const outbox_row& row, const cursor& of) const {
    schemas::event marker;
    if (auto event = schemas::decode<schemas::event>(row.value)) marker = *std::move(event);
    marker.generation = x_outbox.generation();
    marker.partition_sequence = row.sequence;
    marker.body.clear();
    marker.refused = "the log refused the event: " + of.refused->reason;
    runtime::log(runtime::log_level::error, runtime::log_events::publisher_event_refused,
                 {{"topic", of.where.topic},
                  {"partition", of.where.partition},
                  {"sequence", static_cast<std::int64_t>(row.sequence)},
                  {"event", marker.id},
                  {"reason", of.refused->reason}});
    return schemas::encode(marker);
}

// ---- sending
// ----------------------------------------------------------------------------------------------------

void publisher_machine::pump(std::int64_t now_ms) {
    x_has_more_to_send = false;
    pump_subscribers(now_ms);
    pump_events(now_ms);
}

/// A partition with many rows takes turns with the others.
void publisher_machine::pump_events(std::int64_t now_ms) {
    std::size_t exhausted = 0;
    while (exhausted < x_cursors.size() && !x_has_more_to_send) {
        const bool may_have_more = publish_rows(x_turn, now_ms);
        exhausted = may_have_more ? 0 : exhausted + 1;
        x_turn = (x_turn + 1) % x_cursors.size();
    }
}

/// False when there is no more to publish now, or no room for it.
bool publisher_machine::publish_rows(std::size_t stream, std::int64_t now_ms) {
    cursor& here = x_cursors[stream];
    flow& its = x_flows[stream];
    its.has_more_to_send = false;
    if (here.state != cursor_state::publishing) return false;
    if (!has_room()) {
        x_has_more_to_send = true;
        return false;
    }
    if (!has_room(stream)) {
        its.has_more_to_send = true;
        return false;
    }
    const std::size_t rows_max =
        std::min({limits::publisher_rows_per_read_max, records_max(stream) - its.records_in_flight,
                  limits::publisher_records_in_flight_max - x_records_in_flight});
    std::vector<outbox_row> rows = x_outbox.rows(here.where, here.next, rows_max,
                                                 limits::publisher_partition_bytes_max - its.bytes_in_flight);
    for (outbox_row& row : rows) {
        HERALD_ASSERT(row.sequence >= here.next);
        here.next = row.sequence + 1;
        if (here.refused && here.refused->sequence == row.sequence) row.value = marker_of(row, here);
        send({x_epoch, stream, row.sequence}, {std::move(row.key), std::move(row.value)}, now_ms);
    }
    return !rows.empty();
}

void publisher_machine::send(append_ticket ticket, change what, std::int64_t now_ms) {
    ticket.bytes = what.key.size() + what.value.value_or("").size();
    flow& its = x_flows[ticket.stream];
    if (its.records_in_flight == 0) its.progress_ms = now_ms;
    ++its.records_in_flight;
    its.bytes_in_flight += ticket.bytes;
    ++x_records_in_flight;
    x_bytes_in_flight += ticket.bytes;
    x_actions.push_back(
        action::append{ticket, place_of(ticket.stream), std::move(what.key), std::move(what.value)});
}

/// Per partition, unacknowledged.
std::size_t publisher_machine::records_max(std::size_t stream) const {
    const bool alone =
        stream != subscribers_stream() && x_cursors[stream].next <= x_cursors[stream].alone_up_to;
    return alone ? 1 : limits::publisher_partition_records_max;
}

bool publisher_machine::has_room(std::size_t stream) const {
    const flow& its = x_flows[stream];
    return its.records_in_flight < records_max(stream) &&
           its.bytes_in_flight < limits::publisher_partition_bytes_max;
}

bool publisher_machine::has_room() const {
    return x_records_in_flight < limits::publisher_records_in_flight_max &&
           x_bytes_in_flight < limits::publisher_bytes_in_flight_max;
}

const topic_partition& publisher_machine::place_of(std::size_t stream) const {
    return stream == subscribers_stream() ? subscribers_partition : x_cursors[stream].where;
}

// ---- subscribers
// --------------------------------------------------------------------------------------------------

void publisher_machine::pump_subscribers(std::int64_t now_ms) {
    do {
        while (!x_subscribers.queue.empty()) {
            if (!has_room(subscribers_stream())) return;  // an acknowledgement will call again
            ++x_subscribers.unacknowledged;
            send({x_epoch, subscribers_stream()}, std::move(x_subscribers.queue.front()), now_ms);
            x_subscribers.queue.pop_front();
        }
    } while (x_subscribers.unacknowledged == 0 && next_subscriber_step());
}

/// What was queued is acknowledged: continues with the head, then with the next changes. False when there is
/// nothing to do.
bool publisher_machine::next_subscriber_step() {
    subscriber_writer& here = x_subscribers;
    switch (here.state) {
        case subscribers_state::unread:
        case subscribers_state::comparing:
            return false;
        case subscribers_state::writing: {
            here.state = subscribers_state::writing_head;
            if (!here.head_is_due) return true;
            const schemas::subscribers_head head{x_outbox.generation(), here.target, here.rows.size()};
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
        if (changed.row)
            here.rows.insert(changed.webhook_id);
        else
            here.rows.erase(changed.webhook_id);
        here.queue.push_back({subscriber_key(changed.webhook_id), std::move(value)});
    }
    if (here.queue.empty()) return false;
    here.head_is_due = true;
    here.state = subscribers_state::writing;
    return true;
}

/// Queues what the topic, once compacted, would lack or have different from the state. A row newer than the
/// state was written by an earlier holder that was ahead of this node: it stays, and its change will be
/// applied here soon.
void publisher_machine::compare_subscribers(const topic_content& content) {
    subscriber_writer& here = x_subscribers;
    const std::uint32_t generation = x_outbox.generation();
    here.target = x_outbox.last_subscriber_change();  // before the rows: the rows may be newer, never older

    schemas::subscribers_head head;
    if (const auto found = content.find(std::string(subscribers_head_key)); found != content.end())
        if (const auto decoded = schemas::decode<schemas::subscribers_head>(found->second)) head = *decoded;
    // A new generation announces itself first: what readers kept of the previous one no longer counts.
    const bool new_generation = head.generation < generation;
    if (new_generation)
        here.queue.push_back({std::string(subscribers_head_key),
                              schemas::encode(schemas::subscribers_head{generation, 0, 0})});
    const auto is_newer = [&](const std::string& value) {
        const auto row = schemas::decode<schemas::subscriber>(value);
        return row && !new_generation && row->revision > here.target;
    };

    here.rows.clear();
    topic_content surplus = content;
    surplus.erase(std::string(subscribers_head_key));
    for (const schemas::subscriber& row : x_outbox.subscribers()) {
        const std::string key = subscriber_key(row.webhook_id);
        std::string value = schemas::encode(row);
        here.rows.insert(row.webhook_id);
        const auto found = surplus.find(key);
        if (found == surplus.end() || (found->second != value && !is_newer(found->second)))
            here.queue.push_back({key, std::move(value)});
        if (found != surplus.end()) surplus.erase(found);
    }
    for (const auto& [key, value] : surplus)
        if (!is_newer(value)) here.queue.push_back({key, std::nullopt});
    const std::uint64_t told = new_generation ? 0 : head.offset;
    here.head_is_due = here.target > told || (here.target == told && head.rows != here.rows.size());
    here.state = subscribers_state::writing;
}

}  // namespace herald::events
