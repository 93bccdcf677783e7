// The log on a real Kafka: where it is and how to get one. Its contract is in events/log/log.hpp; kafka.md
// has the facts about the broker and its client that the implementation relies on.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "events/log/kafka/limits.hpp"
#include "events/log/log.hpp"

namespace herald::events::log::kafka {

/// With one broker lost and another one stopped, every record is still there.
constexpr std::int32_t replicas_default = 3;

struct kafka_options {
    /// "host:port,host:port": enough brokers to find the others.
    std::string bootstrap_servers;
    /// Comes before the name of every topic and group.
    std::string topic_prefix = "herald.";
    /// How long a group waits for a member that died, in ms. The broker's own bounds apply (3 s … 30 min
    /// here).
    std::int64_t session_timeout_ms = 6'000;
    /// The replicas of each topic that create_topics() makes, and the number it expects of existing topics.
    std::int32_t replicas = replicas_default;
    /// librdkafka properties (TLS, SASL, …) in order. Those that Herald's guarantees depend on are refused.
    std::vector<std::pair<std::string, std::string>> properties;
};

/// A place from which a group cannot resume: its offset was never committed or was forgotten (`committed` <
/// 0), or is no longer, or not yet, in the log.
struct lost_place {
    std::string group;
    topic_partition where;
    std::int64_t committed = -1;
    offset_range there;
};

/// The log, plus what only brokers have. create_topics() can also fail with these errors, and names the
/// command that fixes the problem:
///   failed_precondition  a topic exists and is not as Herald needs it (topics.hpp, options.replicas)
///   resource_exhausted   fewer brokers answer than replicas are asked for; nothing was made
class kafka_log : public partitioned_log {
  public:
    /// For a start of `api` or `worker`: waits at most `wait_ms` for Kafka and compares the topics.
    /// Differences in topics other than registry.commands, and settings that these credentials may not read,
    /// are warnings. Errors:
    ///   not_found            there is no registry.commands, or another topic is missing: nothing was set up
    ///   here, or is being set up
    ///   failed_precondition  registry.commands breaks the guarantees; says how to fix it
    ///   unavailable          nobody answers; names the addresses and the cause
    virtual result<void> check_topics(std::int64_t wait_ms = limits::kafka_check_topics_ms_max) = 0;
    /// Warns when the brokers forget the offsets of groups after less than 30 days.
    virtual void check_offsets_retention() = 0;
    /// The places from which the groups of topics.hpp cannot resume. Blocks up to 30 s. Errors: not_found
    /// when there are no topics; unavailable.
    virtual result<std::vector<lost_place>> find_lost_places() = 0;
    /// Each group resumes at the log's first record. Errors: failed_precondition when a group has members
    /// (workers are running); unavailable.
    virtual result<void> reset(const std::vector<lost_place>&) = 0;
};

/// Makes the log without asking the brokers: if they are out of reach, the calls show it. Thread-safe; what
/// it opens may outlive it. Its destructor waits at most 7 s for clients that are still closing; a client
/// that hangs is left to its thread, so main must then end with _exit. Errors: invalid_argument for a
/// property that is unknown, has a wrong value, or is reserved for Herald.
result<std::unique_ptr<kafka_log>> make_kafka_log(kafka_options);

}  // namespace herald::events::log::kafka
