#include "program/open_log.hpp"

#include "events/log/topics.hpp"
#include "runtime/clock.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "storage/embedded_log/embedded_log.hpp"
#include "storage/node/genesis.hpp"

namespace herald::program {
namespace {

constexpr std::size_t records_per_batch = 1'000;

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
        return runtime::not_found("there is no installation in --data " + chosen.data.string() +
                                  ": the folder " + folder.string() + " is not there");
    return open_log(chosen);
}

result<std::unique_ptr<events::log::kafka::kafka_log>> open_kafka_log(const settings& chosen) {
    runtime::log(runtime::log_level::info, runtime::log_events::kafka_waiting,
                 {{"brokers", std::string_view(chosen.kafka.bootstrap_servers)}});
    return events::log::kafka::make_kafka_log(chosen.kafka);
}

result<begun_log> open_begun_kafka_log(const settings& chosen) {
    auto keys = runtime::key_ring::load(key_ring_file(chosen));
    if (!keys) return keys.error();
    auto log = open_kafka_log(chosen);
    if (!log) return log.error();
    const auto nothing_here = [&](const error& why) {
        if (why.code != error_code::not_found) return why;
        return runtime::not_found("this Kafka holds no Herald installation under the prefix \"" +
                                  chosen.kafka.topic_prefix + "\"; run `herald init` first");
    };
    if (const auto checked = (*log)->check_topics(); !checked) return nothing_here(checked.error());
    const auto genesis = storage::node::read_genesis(**log, *keys);
    if (!genesis) return nothing_here(genesis.error());
    return begun_log{*std::move(keys), *std::move(log)};
}

result<storage::registry::engine::engine_position> apply_log(events::log::partitioned_log& log,
                                                             storage::registry::state::state_store& rows,
                                                             std::uint64_t next_offset) {
    storage::registry::engine::engine engine(rows);
    const auto reader = log.open_reader({std::string(events::log::topic::commands), 0}, 0);
    for (;;) {
        const auto batch = reader->poll(records_per_batch, 1'000);
        if (!batch) return batch.error();
        for (const events::log::record& record : batch->records) {
            const auto applied = engine.apply(record);
            if (!applied) return applied.error();
            if (engine.position().next_offset == next_offset) return engine.position();
        }
        if (const auto written = engine.write(); !written) return written.error();
        if (batch->at_end) break;
    }
    if (next_offset == 0) return engine.position();
    return runtime::not_found("the log ends at " + std::to_string(engine.position().next_offset) +
                              ", before " + std::to_string(next_offset));
}

}  // namespace herald::program
