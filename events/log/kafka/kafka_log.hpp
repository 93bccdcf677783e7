// The log on a real Kafka: where it is and how to get one. What it promises is said in events/log/log.hpp;
// the facts about the broker and its client that the implementation stands on are in kafka.md.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "events/log/log.hpp"

namespace herald::events::log::kafka {

/// One broker may be lost and another one be stopped, and every record is still there.
constexpr std::int32_t replicas_default = 3;

struct kafka_options {
    /// "host:port,host:port": enough of the brokers to find the others.
    std::string bootstrap_servers;
    /// Goes before every topic's and every group's name.
    std::string topic_prefix = "herald.";
    /// How long a group waits for a member that died, in ms. The broker's own bounds hold (3 s … 30 min
    /// here).
    std::int64_t session_timeout_ms = 6'000;
    /// Of each topic that create_topics() makes, and what it expects of those that exist.
    std::int32_t replicas = replicas_default;
    /// librdkafka properties (TLS, SASL, …) in order. Those that the promises rest on are refused.
    std::vector<std::pair<std::string, std::string>> properties;
};

/// A place from which a group cannot go on: never committed or forgotten (`committed` < 0), or no longer, or
/// not yet, in the log.
struct lost_place {
    std::string group;
    topic_partition where;
    std::int64_t committed = -1;
    offset_range there;
};

/// The log, and what belongs to brokers alone. create_topics() also refuses, naming the command that mends
/// it:
///   failed_precondition  a topic exists and is not as Herald needs it (topics.hpp, options.replicas)
///   resource_exhausted   fewer brokers answer than copies are asked for; nothing was made
class kafka_log : public partitioned_log {
  public:
    /// For a start of `api` or `worker`: waits for Kafka, at most 30 s, and compares the topics. What differs
    /// in others than registry.commands, and what these credentials may not see, is a warning. Errors:
    ///   not_found            there is no registry.commands: nothing was begun here
    ///   failed_precondition  it is not what the promises need, or another topic is missing; says what mends
    ///   it unavailable          nobody answers; names the addresses and the cause
    virtual result<void> check_topics() = 0;
    /// Warns when the brokers forget the offsets of groups in under 30 days.
    virtual void check_offsets_retention() = 0;
    /// Where the groups of topics.hpp cannot go on. Blocks up to 30 s. Errors: not_found when there are no
    /// topics; unavailable.
    virtual result<std::vector<lost_place>> find_lost_places() = 0;
    /// Each goes on at the log's first record. Errors: failed_precondition when a group has members (workers
    /// run); unavailable.
    virtual result<void> reset(const std::vector<lost_place>&) = 0;
};

/// Makes the log without asking the brokers: one that is out of reach shows in the calls. Thread-safe; what
/// it opens may outlive it. Destroying it waits at most 7 s for clients that are still closing: one that
/// hangs is left to its thread, so main must then end with _exit. Errors: invalid_argument for a property
/// that is unknown, has a wrong value, or is Herald's own.
result<std::unique_ptr<kafka_log>> make_kafka_log(kafka_options);

}  // namespace herald::events::log::kafka
