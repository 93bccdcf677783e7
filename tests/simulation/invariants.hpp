// The invariants of the design that a finished run is held against. Each throws rule_broken.
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
/// 1 and 2: what was answered is so, took effect once, and a repeat under the same key had the same answer.
/// `with_key_only`: leaves out what was asked without an Idempotency-Key.
void check_answers(const reference&, const std::deque<operation>&, bool with_key_only);
/// 12: a node that is alone speaks when a timer is due and once a minute, and not without pause.
void check_heartbeats(events::log::partitioned_log&);
/// 3: PROMOTE and REQUEST_SCAN events and their causes are one to one, each with the right audience.
void check_causes(const reference&);
/// 4: at all times the sequences of a partition were 1 … m without a hole, and in the end the outbox is in
/// the topics.
void check_event_topics(const reference&, events::log::partitioned_log&);
/// `subscribers` says of every webhook what the state says, and its head reaches the newest change.
void check_subscribers(const reference&, events::log::partitioned_log&);

/// 5: each event at each webhook of its audience was received, or is dead with a reason, or the webhook was
/// deleted; nothing else was received.
void check_deliveries(const reference&, events::log::partitioned_log&, const receivers&);
/// Names a delivery of which that is not yet so.
std::optional<std::string> undelivered(const reference&, events::log::partitioned_log&, const receivers&);
/// 4: what is committed with an offset of an event topic is the highest sequence before it: a repeat is known
/// as one.
void check_position(const events::log::memory::memory_broker&, const events::log::topic_partition&,
                    std::int64_t next_offset, const std::string& metadata);

}  // namespace herald::test
