// Topics and first offsets in Kafka. Internal to events/kafka.
#pragma once

#include <memory>
#include <string>

#include "events/kafka/client.hpp"

namespace herald::events::kafka {

/// log::partitions. Blocks up to 5 s.
result<std::int32_t> count_partitions(const installation&, rd_kafka_t* client, const std::string& topic);

/// log::create_topics. Blocks up to 60 s. Also warns when the brokers forget committed offsets in under 30
/// days. Errors: unavailable when the brokers do not do it in time; failed_precondition when they refuse.
result<void> create_topics(const std::shared_ptr<installation>&, rd_kafka_t* client);

}  // namespace herald::events::kafka
