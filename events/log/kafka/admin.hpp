// What the cluster reports about itself, and requests through librdkafka's admin interface. Internal to
// events/log/kafka.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "events/log/kafka/client.hpp"

namespace herald::events::log::kafka {

struct topic_shape {
    std::int32_t partitions = 0;
    std::int32_t replicas = 0;  // of the partition with the fewest
};

struct cluster {
    int brokers = 0;
    std::int32_t a_broker = -1;
    std::map<std::string, topic_shape> topics;  // with prefix
};

/// Asks any broker; never makes a topic. Errors: unavailable within `wait_ms`.
result<cluster> describe_cluster(const installation&, rd_kafka_t* client, std::int64_t wait_ms);

/// As log::partitions. Blocks up to 5 s.
result<std::int32_t> count_partitions(const installation&, rd_kafka_t* client, const std::string& topic);

/// One request and its answer.
class admin_request {
  public:
    admin_request(const installation&, rd_kafka_t* client, rd_kafka_admin_op_t);
    const rd_kafka_AdminOptions_t* options() const { return x_options.get(); }
    rd_kafka_queue_t* queue() const { return x_queue.get(); }
    /// Blocks until librdkafka has an answer; a request that times out has one too. Errors: unavailable.
    result<event_pointer> wait() const;

  private:
    const installation& x_installed;
    std::unique_ptr<rd_kafka_AdminOptions_t, destroyed_by<rd_kafka_AdminOptions_destroy>> x_options;
    queue_pointer x_queue;
};

/// The settings in effect for a topic or a broker.
struct described {
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;  // otherwise the reason why they cannot be read
    std::map<std::string, std::string, std::less<>> settings;
};
/// By name: a prefixed topic or a broker's number. Errors: unavailable.
result<std::map<std::string, described>> describe_settings(const installation&, rd_kafka_t* client,
                                                           rd_kafka_ResourceType_t,
                                                           const std::vector<std::string>& names);

}  // namespace herald::events::log::kafka
