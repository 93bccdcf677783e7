// Creates the topics of events/log/topics.hpp and compares existing ones. Internal to events/log/kafka.
#pragma once

#include <memory>

#include "events/log/kafka/admin.hpp"
#include "events/log/kafka/client.hpp"

namespace herald::events::log::kafka {

/// As log::create_topics, with the errors of kafka_log. Blocks up to 60 s.
result<void> create_topics(const std::shared_ptr<installation>&, rd_kafka_t* client);
/// As kafka_log::check_topics; the cluster as it was found.
result<cluster> check_topics(const installation&, rd_kafka_t* client, std::int64_t wait_ms);

}  // namespace herald::events::log::kafka
