// How a start on Kafka waits for what it needs there.
#pragma once

#include <memory>

#include "events/log/kafka/kafka_log.hpp"
#include "program/options/settings.hpp"
#include "program/parts/doors.hpp"
#include "runtime/key_ring.hpp"
#include "schemas/commands/installation.hpp"

namespace herald::program {

/// The log of an installation that was begun with this key ring.
struct begun_log {
    runtime::key_ring keys;
    std::unique_ptr<events::log::kafka::kafka_log> log;
    schemas::commands::genesis beginning;
};

/// For a start on Kafka: returns when the brokers answer and hold an installation, however long that takes; a
/// signal ends the process meanwhile. It says what it waits for, in the report and in the log. Errors, at
/// once, are what waiting does not mend: failed_precondition when there is no proper key ring, the
/// installation was begun with another, or its topics are not as they must be; invalid_argument for a
/// property of Kafka's.
result<begun_log> wait_for_begun_log(const settings&, start_report&);

}  // namespace herald::program
