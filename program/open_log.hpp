// The log that the settings mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "events/log/kafka/kafka_log.hpp"
#include "events/log/log.hpp"
#include "program/settings.hpp"
#include "runtime/key_ring.hpp"
#include "storage/registry/engine/engine.hpp"

namespace herald::program {

/// On Kafka, or embedded in DIR/herald/log, which is then this process's alone. Errors: those of
/// make_kafka_log() and make_embedded_log().
result<std::unique_ptr<events::log::partitioned_log>> open_log(const settings&);

/// Kafka's, and tells the process's log whose answer it waits for: what follows may take a while.
result<std::unique_ptr<events::log::kafka::kafka_log>> open_kafka_log(const settings&);

/// The log of an installation that has begun with this key ring.
struct begun_log {
    runtime::key_ring keys;
    std::unique_ptr<events::log::kafka::kafka_log> log;
};
/// For a start on Kafka; waits for it. Errors: not_found when there is no installation; failed_precondition
/// when its topics are not as they must be, or it was begun with another key ring; unavailable.
result<begun_log> open_begun_kafka_log(const settings&);

/// Applies the log from its start into `rows` (empty), up to `next_offset` or, with 0, to its end; the
/// position there. Errors: not_found when the log ends before; those of the log and of apply.
result<storage::registry::engine::engine_position> apply_log(events::log::partitioned_log&,
                                                             storage::registry::state::state_store& rows,
                                                             std::uint64_t next_offset);

}  // namespace herald::program
