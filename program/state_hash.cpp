// herald state-hash: what the log says the state is, at any offset. Two nodes that show another hash at that
// offset in /readyz do not hold the state that the log gives (P5).
#include <iostream>

#include "events/topics.hpp"
#include "program/composition.hpp"
#include "runtime/clock.hpp"
#include "runtime/crypto.hpp"
#include "storage/embedded_log/embedded_log.hpp"
#include "storage/engine.hpp"

namespace herald {
namespace {

constexpr std::size_t records_per_batch = 1'000;

}  // namespace

result<storage::engine_position> apply_log(events::log& log, storage::state_store& rows,
                                           std::uint64_t next_offset) {
    storage::engine engine(rows);
    const auto reader = log.open_reader({std::string(events::topic::commands), 0}, 0);
    for (;;) {
        const auto batch = reader->poll(records_per_batch, 1'000);
        if (!batch) return batch.error();
        for (const events::record& record : batch->records) {
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

process_end run_state_hash(const settings& chosen) {
    std::unique_ptr<events::log> log;
    if (chosen.kafka.empty()) {
        auto embedded = storage::make_embedded_log(
            chosen.data / "herald/log", {.leap = storage::clock_leap::accepted}, runtime::system_clock());
        if (!embedded) return failed(embedded.error());
        log = *std::move(embedded);
    } else {
        auto kafka = open_kafka(chosen);
        if (!kafka) return failed(kafka.error());
        log = *std::move(kafka);
    }
    const auto rows = storage::make_memory_state();
    const auto position = apply_log(*log, *rows, chosen.at_offset);
    if (!position) return failed(position.error());
    std::cout << runtime::to_hex(position->hash) << "\n";
    return process_end::done;
}

}  // namespace herald
