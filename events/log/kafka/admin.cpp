#include "events/log/kafka/admin.hpp"

#include <algorithm>

#include "events/log/kafka/limits.hpp"

namespace herald::events::log::kafka {
namespace {

using config_resource =
    std::unique_ptr<rd_kafka_ConfigResource_t, destroyed_by<rd_kafka_ConfigResource_destroy>>;

topic_shape shape_of(const rd_kafka_metadata_topic_t& topic) {
    topic_shape shape{topic.partition_cnt, topic.partition_cnt == 0 ? 0 : INT32_MAX};
    for (int i = 0; i < topic.partition_cnt; ++i)
        shape.replicas = std::min(shape.replicas, topic.partitions[i].replica_cnt);
    return shape;
}

}  // namespace

result<cluster> describe_cluster(const installation& installed, rd_kafka_t* client, std::int64_t wait_ms) {
    const rd_kafka_metadata_t* found = nullptr;
    const rd_kafka_resp_err_t code = rd_kafka_metadata(client, 1, nullptr, &found, static_cast<int>(wait_ms));
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return installed.no_answer(code);
    const metadata_pointer owner(found);
    cluster result;
    result.brokers = found->broker_cnt;
    if (found->broker_cnt > 0) result.a_broker = found->brokers[0].id;
    for (int i = 0; i < found->topic_cnt; ++i)
        if (found->topics[i].err == RD_KAFKA_RESP_ERR_NO_ERROR)
            result.topics[found->topics[i].topic] = shape_of(found->topics[i]);
    return result;
}

result<std::int32_t> count_partitions(const installation& installed, rd_kafka_t* client,
                                      const std::string& topic) {
    const topic_pointer handle(rd_kafka_topic_new(client, installed.name_of_topic(topic).c_str(), nullptr));
    const rd_kafka_metadata_t* found = nullptr;
    const rd_kafka_resp_err_t code =
        rd_kafka_metadata(client, 0, handle.get(), &found, limits::kafka_count_ms_max);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return installed.no_answer(code);
    const metadata_pointer owner(found);
    if (found->topic_cnt != 1 || says_unknown(found->topics[0].err))
        return runtime::not_found({"there is no topic ", installed.name_of_topic(topic), " in Kafka"});
    if (found->topics[0].partition_cnt == 0)
        return runtime::unavailable({"Kafka says of topic ", installed.name_of_topic(topic), ": ",
                                     rd_kafka_err2str(found->topics[0].err)});
    return found->topics[0].partition_cnt;
}

admin_request::admin_request(const installation& installed, rd_kafka_t* client, rd_kafka_admin_op_t kind)
    : x_installed(installed),
      x_options(rd_kafka_AdminOptions_new(client, kind)),
      x_queue(rd_kafka_queue_new(client)) {
    char text[256];
    rd_kafka_AdminOptions_set_request_timeout(x_options.get(), limits::kafka_admin_request_ms_max, text,
                                              sizeof text);
    if (kind == RD_KAFKA_ADMIN_OP_CREATETOPICS)
        rd_kafka_AdminOptions_set_operation_timeout(x_options.get(), limits::kafka_admin_request_ms_max, text,
                                                    sizeof text);
}

result<event_pointer> admin_request::wait() const {
    event_pointer event(
        rd_kafka_queue_poll(x_queue.get(), static_cast<int>(limits::kafka_admin_request_ms_max) + 1'000));
    if (event == nullptr) return x_installed.no_answer(RD_KAFKA_RESP_ERR__TIMED_OUT);
    if (rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return runtime::unavailable({"Kafka: ", rd_kafka_event_error_string(event.get())});
    return event;
}

result<std::map<std::string, described>> describe_settings(const installation& installed, rd_kafka_t* client,
                                                           rd_kafka_ResourceType_t kind,
                                                           const std::vector<std::string>& names) {
    std::map<std::string, described> all;
    if (names.empty()) return all;
    std::vector<config_resource> owned;
    std::vector<rd_kafka_ConfigResource_t*> asked_of;
    for (const std::string& name : names) {
        owned.emplace_back(rd_kafka_ConfigResource_new(kind, name.c_str()));
        asked_of.push_back(owned.back().get());
    }
    const admin_request asked(installed, client, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
    rd_kafka_DescribeConfigs(client, asked_of.data(), asked_of.size(), asked.options(), asked.queue());
    const result<event_pointer> event = asked.wait();
    if (!event) return event.error();
    std::size_t count = 0;
    const rd_kafka_ConfigResource_t** resources = rd_kafka_DescribeConfigs_result_resources(
        rd_kafka_event_DescribeConfigs_result(event->get()), &count);
    for (std::size_t i = 0; i < count; ++i) {
        described& one = all[rd_kafka_ConfigResource_name(resources[i])];
        one.code = rd_kafka_ConfigResource_error(resources[i]);
        std::size_t entries = 0;
        const rd_kafka_ConfigEntry_t** entry = rd_kafka_ConfigResource_configs(resources[i], &entries);
        for (std::size_t k = 0; k < entries; ++k)
            if (const char* value = rd_kafka_ConfigEntry_value(entry[k]))
                one.settings[rd_kafka_ConfigEntry_name(entry[k])] = value;
    }
    return all;
}

}  // namespace herald::events::log::kafka
