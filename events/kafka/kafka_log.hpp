// The log on a real Kafka: where it is and how to get one. What it promises is said in events/log.hpp; the
// facts about the broker and its client that the implementation stands on are in kafka.md.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "events/log.hpp"

namespace herald::events::kafka {

struct kafka_options {
    /// "host:port,host:port": enough of the brokers to find the others.
    std::string bootstrap_servers;
    /// Goes before every topic's and every group's name.
    std::string topic_prefix = "herald.";
    /// How long a group waits for a member that died, in ms. The broker's own bounds hold (3 s … 30 min
    /// here).
    std::int64_t session_timeout_ms = 6'000;
    /// librdkafka properties (TLS, SASL, …) in order. Those that the promises rest on are refused.
    std::vector<std::pair<std::string, std::string>> properties;
};

/// Makes the log without asking the brokers: one that is out of reach shows in the calls. Thread-safe; what
/// it opens may outlive it. Destroying it waits at most 7 s for clients that are still closing: one that
/// hangs is left to its thread, so main must then end with _exit. Errors: invalid_argument for a property
/// that is unknown, has a wrong value, or is Herald's own.
result<std::unique_ptr<log>> make_kafka_log(kafka_options);

}  // namespace herald::events::kafka
