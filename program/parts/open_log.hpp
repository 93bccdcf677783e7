// Opens the log that the settings name.
#pragma once

#include <cstdint>
#include <memory>

#include "events/log/kafka/kafka_log.hpp"
#include "events/log/log.hpp"
#include "program/options/settings.hpp"
#include "storage/registry/engine/engine.hpp"

namespace herald::program {

/// Opens it on Kafka, or embedded in DIR/herald/log, which then belongs to this process alone. Errors: those
/// of make_kafka_log() and make_embedded_log().
result<std::unique_ptr<events::log::partitioned_log>> open_log(const settings&);

/// As open_log, but makes nothing. Errors: also not_found when there is no embedded log in DIR.
result<std::unique_ptr<events::log::partitioned_log>> open_existing_log(const settings&);

/// As open_log, for Kafka; also logs which brokers it waits for, since the next calls may take a while.
result<std::unique_ptr<events::log::kafka::kafka_log>> open_kafka_log(const settings&);

/// Applies the log from where `rows` end, up to `next_offset` or, if that is 0, to the log's
/// end; returns the position there. Errors: not_found when the log ends before that; those of the log and of
/// apply.
result<storage::registry::engine::engine_position> apply_log(events::log::partitioned_log&,
                                                             storage::registry::state::state_store& rows,
                                                             std::uint64_t next_offset);

/// Applies the log to the record that ended its restore, and no further, whatever was written since. False
/// when there is none up to the log's end. Errors: as apply_log.
result<bool> apply_log_to_restored(events::log::partitioned_log&,
                                   storage::registry::state::state_store& rows);

}  // namespace herald::program
