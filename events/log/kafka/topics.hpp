// Making the topics of events/log/topics.hpp, and comparing those that exist. Internal to events/log/kafka.
#pragma once

#include <memory>

#include "events/log/kafka/client.hpp"

namespace herald::events::log::kafka {

/// log::create_topics, as kafka_log says. Blocks up to 60 s.
result<void> create_topics(const std::shared_ptr<installation>&, rd_kafka_t* client);
/// kafka_log::check_topics.
result<void> check_topics(const installation&, rd_kafka_t* client);

}  // namespace herald::events::log::kafka
