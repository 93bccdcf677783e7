// The design's invariants, checked on a finished run. Each function throws rule_broken.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/simulation/api_node.hpp"
#include "tests/simulation/client.hpp"
#include "tests/simulation/receivers.hpp"
#include "tests/simulation/reference.hpp"

namespace herald::test {

/// 7: every node has the reference's state, and had its hash after every record.
void check_nodes_agree(const reference&, const agreement&, const std::vector<std::unique_ptr<api_node>>&);
/// 1 and 2: every answer is true, every operation took effect once, and a repeat under the same key got the
/// same answer. `with_key_only`: leaves out requests without an Idempotency-Key.
void check_answers(const reference&, const std::deque<operation>&, bool with_key_only);
/// 12: a lone node sends a heartbeat when a timer is due and once a minute, but not continuously.
void check_heartbeats(events::log::partitioned_log&);
/// 3: PROMOTE and REQUEST_SCAN events match their causes one to one, each with the right audience.
void check_causes(const reference&);
/// 4: at all times the sequences of a partition were 1 … m without a gap, and in the end the whole outbox is
/// in the topics.
void check_event_topics(const reference&, events::log::partitioned_log&);
/// `subscribers` agrees with the state for every webhook, and its head reaches the newest change.
void check_subscribers(const reference&, events::log::partitioned_log&);

/// 5: each event was received by each webhook of its audience, or is dead with a reason, or the webhook was
/// deleted; nothing else was received.
void check_deliveries(const reference&, events::log::partitioned_log&, const receivers&);
/// Names a delivery for which that is not true yet.
std::optional<std::string> undelivered(const reference&, events::log::partitioned_log&, const receivers&);
/// 4: the position committed with an offset of an event topic is the highest sequence before that offset, so
/// that a repeat is recognised.
void check_position(const events::log::memory::memory_broker&, const events::log::topic_partition&,
                    std::int64_t next_offset, const std::string& metadata);

}  // namespace herald::test
