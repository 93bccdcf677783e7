// herald state-hash: what the log says the state is, at any offset. Two nodes that show another hash at that
// offset in /readyz do not hold the state that the log gives (P5).
#include <iostream>

#include "composition.hpp"
#include "events/topics.hpp"
#include "runtime/clock.hpp"
#include "runtime/crypto.hpp"
#include "storage/embedded_log/embedded_log.hpp"
#include "storage/engine.hpp"

namespace herald {
namespace {

constexpr std::size_t records_per_batch = 1'000;

/// Applies the log from its start, in memory, up to `next_offset` (0: all of it); the rolling hash there.
result<std::string> hash_at(events::log& log, std::uint64_t next_offset) {
    const auto rows = storage::make_memory_state();
    storage::engine engine(*rows);
    const auto reader = log.open_reader({std::string(events::topic::commands), 0}, 0);
    for (;;) {
        const auto batch = reader->poll(records_per_batch, 1'000);
        if (!batch) return batch.error();
        for (const events::record& record : batch->records) {
            const auto applied = engine.apply(record);
            if (!applied) return applied.error();
            if (engine.position().next_offset == next_offset) return runtime::to_hex(engine.position().hash);
        }
        if (const auto written = engine.write(); !written) return written.error();
        if (batch->at_end) break;
    }
    if (next_offset == 0) return runtime::to_hex(engine.position().hash);
    return runtime::not_found("the log ends at " + std::to_string(engine.position().next_offset) +
                              ", before " + std::to_string(next_offset));
}

}  // namespace

process_end run_state_hash(const settings& chosen) {
    std::unique_ptr<events::log> log;
    if (chosen.kafka.empty()) {
        auto embedded = storage::make_embedded_log(chosen.data / "herald/log", {}, runtime::system_clock());
        if (!embedded) return failed(embedded.error());
        log = *std::move(embedded);
    } else {
        auto kafka = open_kafka(chosen);
        if (!kafka) return failed(kafka.error());
        log = *std::move(kafka);
    }
    const auto hash = hash_at(*log, chosen.at_offset);
    if (!hash) return failed(hash.error());
    std::cout << *hash << "\n";
    return process_end::done;
}

}  // namespace herald
