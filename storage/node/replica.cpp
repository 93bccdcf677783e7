#include "storage/node/replica.hpp"

#include <utility>

#include "events/topics.hpp"
#include "runtime/crypto.hpp"
#include "runtime/limits.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"

namespace herald::storage {
namespace {

constexpr std::int64_t rest_after_trouble_ms = 200;
constexpr std::size_t hashes_remembered = 256;

node_failure mismatch(std::string message) { return {node_failure::kind::log_mismatch, std::move(message)}; }

events::topic_partition commands() { return {std::string(events::topic::commands), 0}; }

}  // namespace

result<void> replica::watched_store::write(const row_changes& changes) {
    auto written = x_to.write(changes);
    if (written)
        for (const auto& [key, row] : changes) x_written.add(key);
    return written;
}

replica::replica(events::log& log, state_store& store, const runtime::clock& clock, listener listening)
    : x_log(log), x_store(store), x_clock(clock), x_listener(std::move(listening)), x_engine(x_store) {
    remember_hash();
    show();
}

std::optional<std::string> replica::hash_at(std::uint64_t offset) const {
    const std::lock_guard lock(x_mutex);
    for (const auto& [at, hash] : x_hashes)
        if (at == offset) return hash;
    return std::nullopt;
}

replica::outcome_of_advance replica::advance(std::int64_t wait_ms) {
    try {
        return advance_or_throw(wait_ms);
    } catch (const state_corrupt& corrupt) {
        return node_failure{node_failure::kind::state_corrupt, corrupt.what()};
    }
}

replica::outcome_of_advance replica::advance_or_throw(std::int64_t wait_ms) {
    if (!write()) return progress{0, rest_after_trouble_ms, false};
    const engine_position& position = x_engine.position();
    if (!x_reader) {
        x_is_checked = position.next_offset == 0;
        x_missing_since_ms.reset();
        const std::uint64_t from = x_is_checked ? 0 : position.last_record_offset;
        x_reader = x_log.open_reader(commands(), static_cast<std::int64_t>(from));
        if (x_notify) x_reader->on_ready(x_notify);
    }
    result<events::read_batch> batch = x_reader->poll(limits::apply_records_max, wait_ms);
    if (!batch && batch.error().code == error_code::failed_precondition)
        return mismatch("the log does not hold what this node has applied up to offset " +
                        std::to_string(position.last_record_offset) + ": " + batch.error().message);
    if (!batch) {  // what comes back may be another log
        x_reader.reset();
        return progress{0, rest_after_trouble_ms, false};
    }
    std::span<const events::record> records = batch->records;
    if (!x_is_checked) {
        if (auto failure = check_last_applied(*batch)) return *std::move(failure);
        if (!x_is_checked) return progress{0, rest_after_trouble_ms, false};
        records = records.subspan(1);
    }
    if (auto failure = apply(records)) return *std::move(failure);
    return progress{records.size(), x_unwritten.empty() ? 0 : rest_after_trouble_ms, batch->at_end};
}

std::optional<node_failure> replica::check_last_applied(events::read_batch& batch) {
    const engine_position& position = x_engine.position();
    if (batch.records.empty()) {
        // A leader that was elected just now may show an end that is too low, for a moment.
        if (!batch.at_end) return std::nullopt;
        const std::int64_t now_ms = x_clock.steady_ms();
        if (now_ms - x_missing_since_ms.value_or(now_ms) >= limits::log_end_ms_max)
            return mismatch("the log ends before offset " + std::to_string(position.last_record_offset) +
                            ", which this node has applied: it was cut or made anew");
        if (!x_missing_since_ms) x_missing_since_ms = now_ms;
        return std::nullopt;
    }
    const events::record& last = batch.records.front();
    const std::string_view value = last.value ? std::string_view(*last.value) : std::string_view();
    if (static_cast<std::uint64_t>(last.offset) != position.last_record_offset ||
        runtime::as_bytes(runtime::sha256(value)) != position.last_record_hash)
        return mismatch("the log holds another record at offset " +
                        std::to_string(position.last_record_offset) +
                        " than the one that this node has applied: it was cut or made anew");
    x_is_checked = true;
    return std::nullopt;
}

std::optional<node_failure> replica::apply(std::span<const events::record> records) {
    for (const events::record& record : records) {
        auto applied = x_engine.apply(record);
        if (!applied) {
            write();  // what came before it counts
            if (!x_engine.installation()) return mismatch(applied.error().message);
            return node_failure{node_failure::kind::unknown_command, applied.error().message};
        }
        x_unwritten.push_back(*std::move(applied));
        x_unwritten_bytes += record.value ? record.value->size() : 0;
        if (record.offset % limits::hash_exchange_offsets == 0) remember_hash();
        if (x_unwritten_bytes >= limits::apply_batch_bytes_max) write();
    }
    write();
    return std::nullopt;
}

bool replica::write() {
    if (x_unwritten.empty()) return true;
    if (const auto written = x_engine.write(); !written) {
        if (!x_is_stuck.exchange(true))  // tried five times a second: said once
            runtime::log(runtime::log_level::error, runtime::log_events::state_not_written,
                         {{"reason", written.error().message}});
        return false;
    }
    x_is_stuck = false;
    show();
    for (applied_record& done : x_unwritten) x_listener.applied(done);
    x_unwritten.clear();
    x_unwritten_bytes = 0;
    x_listener.written(x_store.take());
    return true;
}

void replica::show() {
    auto next = std::make_shared<applied_state>();
    next->view = x_store.view();
    next->position = x_engine.position();
    if (const auto shown = x_newest.load(); shown && shown->installation)
        next->installation = shown->installation;
    else if (x_engine.installation())
        next->installation = std::make_shared<schemas::genesis>(*x_engine.installation());
    x_newest.store(std::move(next));
}

void replica::remember_hash() {
    const engine_position& position = x_engine.position();
    if (position.exchange_hash.empty()) return;
    const std::lock_guard lock(x_mutex);
    x_hashes.emplace_back(position.exchange_offset, position.exchange_hash);
    if (x_hashes.size() > hashes_remembered) x_hashes.pop_front();
}

}  // namespace herald::storage
