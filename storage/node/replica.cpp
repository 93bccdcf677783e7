#include "storage/node/replica.hpp"

#include <utility>

#include "events/log/topics.hpp"
#include "runtime/crypto.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "schemas/binary.hpp"
#include "schemas/commands/scans.hpp"
#include "storage/node/limits.hpp"
#include "storage/node/opened_ahead.hpp"

namespace herald::storage::node {
namespace {

using registry::engine::applied_record;

constexpr std::int64_t rest_after_trouble_ms = 200;

node_failure mismatch(std::string message) { return {node_failure::kind::log_mismatch, std::move(message)}; }

/// A report that a build is unsafe: the build's row says so, too, unless a later record of the same write has
/// erased it.
void add_report(registry::tables::serving_changes& to, const applied_record& done) {
    if (done.type != schemas::commands::report_scan::type || done.outcome.code != 0) return;
    const auto scan = schemas::decode<schemas::scan>(done.outcome.body);
    if (scan && scan->safety_status == schemas::safety_status::unsafe)
        to.unsafe_reports.push_back({scan->build_id, scan->id});
}

events::log::topic_partition commands() { return {std::string(events::log::topic::commands), 0}; }

}  // namespace

result<void> replica::watched_store::write(const registry::state::row_changes& changes) {
    auto written = x_to.write(changes);
    if (!written) return written;
    x_written |= written_tables(changes);
    x_serving |= registry::tables::serving_changes(changes);
    return written;
}

replica::replica(events::log::partitioned_log& log, registry::state::state_store& store,
                 const runtime::clock& clock, std::string name, listener listening,
                 std::vector<registry::engine::skipped_record> skips)
    : x_log(log),
      x_store(store),
      x_clock(clock),
      x_listener(std::move(listening)),
      x_engine(x_store, std::move(skips)),
      x_peers(std::move(name)) {
    if (x_engine.position().next_offset > 0) x_ring.add(x_engine.position());
    x_newest.store(next_state(x_engine.position(), x_engine.level()));
}

std::string replica::stuck_because() const {
    const auto why = x_stuck_because.load();
    return why ? *why : std::string();
}

void replica::compare_with_log() {
    x_must_compare = true;
    if (x_notify) x_notify();
}

replica::outcome_of_advance replica::advance(std::int64_t wait_ms) {
    try {
        return advance_or_throw(wait_ms);
    } catch (const registry::state::state_unreadable& unreadable) {
        return node_failure{node_failure::kind::state_unreadable, unreadable.what()};
    }
}

replica::outcome_of_advance replica::advance_or_throw(std::int64_t wait_ms) {
    if (!x_unwritten.records.empty() && !write()) return progress{0, rest_after_trouble_ms, false};
    if (const auto able = x_engine.check_level(); !able)
        return node_failure{node_failure::kind::level_too_low, able.error().message};
    if (x_must_compare.exchange(false)) x_reader.reset();
    if (!x_compares_all && x_was_at_end && x_peers.is_in_doubt()) {
        x_compares_all = true;
        x_reader.reset();
    }
    if (!x_reader) open_reader();
    result<events::log::read_batch> batch = x_reader->poll(limits::apply_records_max, wait_ms);
    if (!batch && batch.error().code == error_code::failed_precondition)
        return mismatch("the log does not hold what this node has applied up to offset " +
                        std::to_string(x_engine.position().last_record_offset) + ": " +
                        batch.error().message);
    if (!batch) {  // after the outage it may be another log
        x_reader.reset();
        write();
        return progress{0, rest_after_trouble_ms, false};
    }
    std::span<const events::log::record> records = batch->records;
    if (x_compare_next) {
        if (auto failure = compare(records, batch->at_end)) return *std::move(failure);
        if (x_compare_next)
            return progress{batch->records.size(), batch->records.empty() ? rest_after_trouble_ms : 0, false};
    }
    if (auto failure = apply(records, batch->at_end)) return *std::move(failure);
    x_was_at_end |= batch->at_end;
    if (std::exchange(x_is_asked, false) && x_was_at_end && x_listener.asked) x_listener.asked();
    return progress{batch->records.size(), x_unwritten.records.empty() ? 0 : rest_after_trouble_ms,
                    batch->at_end};
}

void replica::open_reader() {
    const registry::engine::engine_position& position = x_engine.position();
    x_missing_since_ms.reset();
    x_compare_next.reset();
    if (x_was_at_end) x_peers.doubt();  // doubt that the log is still the same
    if (position.next_offset > 0)
        x_compare_next = x_compares_all ? x_ring.oldest() : position.last_record_offset;
    x_reader = x_log.open_reader(commands(), static_cast<std::int64_t>(x_compare_next.value_or(0)));
    if (x_notify) x_reader->on_ready(x_notify);
}

std::optional<node_failure> replica::compare(std::span<const events::log::record>& records, bool at_end) {
    const std::uint64_t last = x_engine.position().last_record_offset;
    if (records.empty()) {
        // A newly elected leader may show an end that is too low for a moment.
        if (!at_end) return std::nullopt;
        const std::int64_t now_ms = x_clock.steady_ms();
        if (now_ms - x_missing_since_ms.value_or(now_ms) >= limits::log_end_ms_max)
            return not_in_log("ends before offset " + std::to_string(last) + ", which this node has applied");
        if (!x_missing_since_ms) x_missing_since_ms = now_ms;
        return std::nullopt;
    }
    while (x_compare_next && !records.empty()) {
        const events::log::record& read = records.front();
        const std::uint64_t offset = x_ring.first_from(*x_compare_next);
        const std::string_view value = read.value ? std::string_view(*read.value) : std::string_view();
        if (static_cast<std::uint64_t>(read.offset) != offset ||
            runtime::sha256(value) != x_ring.find(offset)->record_hash)
            return not_in_log("holds another record at offset " + std::to_string(offset) +
                              " than the one that this node has applied");
        records = records.subspan(1);
        if (offset < last) {
            x_compare_next = offset + 1;
            continue;
        }
        x_compare_next.reset();
        if (!std::exchange(x_compares_all, false)) continue;
        x_peers.records_are_the_logs();
        x_is_asked = true;
    }
    return std::nullopt;
}

node_failure replica::not_in_log(const std::string& what) const {
    node_failure failure = mismatch("the log " + what + ": it was cut or created anew");
    // The newest record may already belong to the new log; the next start would then find nothing wrong.
    if (x_compares_all) failure.what = node_failure::kind::log_mixed;
    return failure;
}

std::optional<node_failure> replica::apply(std::span<const events::log::record> records, bool at_end) {
    opened_ahead opened(records, x_store.is_written_beside());
    for (std::size_t i = 0; i < records.size(); ++i) {
        const events::log::record& record = records[i];
        auto applied = x_engine.apply(opened.take(i));
        if (!applied) {
            write();  // what came before it counts
            if (!x_engine.installation()) return mismatch(applied.error().message);
            return node_failure{x_engine.check_level() ? node_failure::kind::unknown_command
                                                       : node_failure::kind::level_too_low,
                                applied.error().message};
        }
        x_ring.add(x_engine.position());
        if (!applied->heartbeat.empty()) hear(*applied);
        x_unwritten.records.push_back(*std::move(applied));
        x_unwritten.bytes += record.value ? record.value->size() : 0;
        if (is_batch_full()) write();
    }
    if (at_end || x_was_at_end || !x_store.is_written_beside())
        write();
    else
        write_beside();
    return std::nullopt;
}

bool replica::is_batch_full() const {
    // A short record may fire timers that change much.
    return x_unwritten.bytes >= limits::apply_batch_bytes_max ||
           x_engine.unwritten_bytes() >= limits::apply_batch_change_bytes_max ||
           x_engine.unwritten_rows() >= limits::apply_batch_rows_max;
}

void replica::hear(const applied_record& one) {
    const auto beat = schemas::decode<schemas::commands::node_heartbeat>(one.heartbeat);
    if (!beat) return;  // the heartbeat was refused
    const bool is_of_another = x_peers.hear(*beat, one.offset, x_engine.position().time_ms, x_ring);
    x_is_asked |= is_of_another && beat->first;
}

bool replica::write() {
    if (!finish_write()) return false;
    if (x_unwritten.records.empty()) return true;
    if (!is_written(x_engine.write())) return false;
    take_applied();
    tell();
    return true;
}

void replica::write_beside() {
    if (x_unwritten.records.empty() || !finish_write()) return;
    take_applied();
    x_engine.begin_write();
}

bool replica::finish_write() {
    if (!x_engine.is_writing()) return true;
    if (!is_written(x_engine.finish_write())) return false;
    tell();
    return true;
}

bool replica::is_written(const result<void>& outcome) {
    if (outcome) {
        x_is_stuck = false;
        return true;
    }
    x_stuck_because.store(std::make_shared<const std::string>(outcome.error().message));
    if (!x_is_stuck.exchange(true))  // retried five times a second, logged once
        runtime::log(runtime::log_level::error, runtime::log_events::state_not_written,
                     {{"reason", outcome.error().message}});
    return false;
}

void replica::take_applied() {
    x_in_flight = std::exchange(x_unwritten, {});
    x_in_flight.position = x_engine.position();
    x_in_flight.level = x_engine.level();
}

void replica::tell() {
    applied_batch told = std::exchange(x_in_flight, {});
    auto next = next_state(told.position, told.level);
    // First the routes of predictions, then the state, then the senders, so that a prediction after an answer
    // to a change or a read goes where that answer said.
    registry::tables::serving_changes changes = x_store.take_serving();
    for (const applied_record& done : told.records) add_report(changes, done);
    if (x_listener.about_to_show) x_listener.about_to_show(*next, changes);
    x_newest.store(std::move(next));
    for (applied_record& done : told.records) x_listener.applied(done);
    x_listener.written(x_store.take());
}

std::shared_ptr<const applied_state> replica::next_state(const registry::engine::engine_position& position,
                                                         std::uint32_t level) const {
    auto next = std::make_shared<applied_state>();
    next->view = x_store.view();
    next->position = position;
    next->level = level;
    if (const auto shown = x_newest.load(); shown && shown->installation)
        next->installation = shown->installation;
    else if (x_engine.installation())
        next->installation = std::make_shared<schemas::commands::genesis>(*x_engine.installation());
    return next;
}

}  // namespace herald::storage::node
