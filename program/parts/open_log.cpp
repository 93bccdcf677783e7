#include "program/parts/open_log.hpp"

#include <chrono>
#include <functional>
#include <thread>

#include "events/log/topics.hpp"
#include "program/options/limits.hpp"
#include "runtime/clock.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "schemas/commands/restoring.hpp"
#include "storage/backup/log_reading.hpp"
#include "storage/embedded_log/embedded_log.hpp"

namespace herald::program {
namespace {

using storage::registry::engine::applied_record;
using storage::registry::engine::engine_position;

constexpr std::size_t records_per_batch = 1'000;
constexpr std::chrono::seconds rest_at_end{1};

/// Applies and writes up to the end that the log's leader reports, or to the last record by `is_last`.
/// Errors: those of the log and of apply; unavailable when the log's end does not come.
result<engine_position> apply_records(events::log::partitioned_log& log,
                                      storage::registry::state::state_store& rows,
                                      const std::function<bool(const applied_record&)>& is_last) {
    const events::log::topic_partition commands{std::string(events::log::topic::commands), 0};
    storage::registry::engine::engine engine(rows);
    const auto range = storage::backup::range_of(log, commands);
    if (!range) return range.error();
    const auto reader = log.open_reader(commands, static_cast<std::int64_t>(engine.position().next_offset));
    for (int silent = 0; silent < limits::log_silent_polls_max;) {
        const auto batch = reader->poll(records_per_batch, 1'000);
        if (!batch) return batch.error();
        bool is_enough = false;
        for (const events::log::record& record : batch->records) {
            const auto applied = engine.apply(record);
            if (!applied) return applied.error();
            if ((is_enough = is_last(*applied))) break;
        }
        if (const auto written = engine.write(); !written) return written.error();
        // A newly elected leader may show an end that is too low for a moment.
        is_enough |= batch->at_end && static_cast<std::int64_t>(engine.position().next_offset) >= range->next;
        if (is_enough) return engine.position();
        silent = batch->records.empty() ? silent + 1 : 0;
        if (batch->records.empty() && batch->at_end) std::this_thread::sleep_for(rest_at_end);
    }
    return runtime::unavailable(
        {"the log has records up to offset ", range->next, ", but they do not arrive: try again"});
}

}  // namespace

result<std::unique_ptr<events::log::partitioned_log>> open_log(const settings& chosen) {
    if (is_on_kafka(chosen)) {
        auto kafka = events::log::kafka::make_kafka_log(chosen.kafka);
        if (!kafka) return kafka.error();
        return std::unique_ptr<events::log::partitioned_log>(*std::move(kafka));
    }
    auto log = storage::embedded_log::make_embedded_log(folder_of(chosen) / "log", chosen.embedded_log,
                                                        runtime::system_clock());
    if (!log) return log.error();
    return std::unique_ptr<events::log::partitioned_log>(*std::move(log));
}

result<std::unique_ptr<events::log::partitioned_log>> open_existing_log(const settings& chosen) {
    const std::filesystem::path folder = folder_of(chosen) / "log";
    if (!is_on_kafka(chosen) && !std::filesystem::exists(folder))
        return runtime::not_found({"there is no installation in --data ", chosen.data.string(),
                                   ": the folder ", folder.string(), " does not exist"});
    return open_log(chosen);
}

result<std::unique_ptr<events::log::kafka::kafka_log>> open_kafka_log(const settings& chosen) {
    runtime::log(runtime::log_level::info, runtime::log_events::kafka_waiting,
                 {{"brokers", std::string_view(chosen.kafka.bootstrap_servers)}});
    return events::log::kafka::make_kafka_log(chosen.kafka);
}

result<storage::registry::engine::engine_position> apply_log(events::log::partitioned_log& log,
                                                             storage::registry::state::state_store& rows,
                                                             std::uint64_t next_offset) {
    bool is_there = next_offset == 0;
    auto position = apply_records(log, rows, [&](const applied_record& one) {
        is_there |= one.offset + 1 == next_offset;
        return one.offset + 1 == next_offset;
    });
    if (position && position->next_offset == next_offset) is_there = true;  // nothing had to be applied
    if (!position || is_there) return position;
    return runtime::not_found({"the log ends at ", position->next_offset, ", before ", next_offset});
}

result<bool> apply_log_to_restored(events::log::partitioned_log& log,
                                   storage::registry::state::state_store& rows) {
    bool is_restored = false;
    const auto position = apply_records(log, rows, [&](const applied_record& one) {
        is_restored |= one.type == schemas::commands::end_restore::type && one.outcome.code == 0;
        return is_restored;
    });
    if (!position) return position.error();
    return is_restored;
}

}  // namespace herald::program
