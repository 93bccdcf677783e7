// The topics of topics.hpp with the settings of kafka.md §3, and the groups' first committed offsets.
#include "events/kafka/admin.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "events/topics.hpp"
#include "runtime/limits.hpp"
#include "runtime/log.hpp"
#include "runtime/text.hpp"

namespace herald::events::kafka {
namespace {

constexpr std::int64_t count_ms_max = 5'000;
constexpr std::int64_t create_ms_max = 60'000;
constexpr std::int64_t request_ms_max = 15'000;
constexpr std::int64_t pause_ms = 100;
constexpr std::uint64_t offsets_kept_minutes_min = 30 * 24 * 60;

using admin_options = std::unique_ptr<rd_kafka_AdminOptions_t, destroyed_by<rd_kafka_AdminOptions_destroy>>;
using new_topic = std::unique_ptr<rd_kafka_NewTopic_t, destroyed_by<rd_kafka_NewTopic_destroy>>;
using config_resource =
    std::unique_ptr<rd_kafka_ConfigResource_t, destroyed_by<rd_kafka_ConfigResource_destroy>>;
using list_offsets = std::unique_ptr<rd_kafka_ListConsumerGroupOffsets_t,
                                     destroyed_by<rd_kafka_ListConsumerGroupOffsets_destroy>>;
using alter_offsets = std::unique_ptr<rd_kafka_AlterConsumerGroupOffsets_t,
                                      destroyed_by<rd_kafka_AlterConsumerGroupOffsets_destroy>>;

/// What the cluster says of itself.
struct cluster {
    int brokers = 0;
    std::int32_t a_broker = -1;
    std::map<std::string, std::int32_t> topics;  // with prefix; partitions
};

error no_answer(rd_kafka_resp_err_t code) {
    return runtime::unavailable(std::string("Kafka does not answer: ") + rd_kafka_err2str(code));
}

result<cluster> describe(rd_kafka_t* client, std::int64_t wait_ms) {
    const rd_kafka_metadata_t* found = nullptr;
    const rd_kafka_resp_err_t code = rd_kafka_metadata(client, 1, nullptr, &found, static_cast<int>(wait_ms));
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return no_answer(code);
    const metadata_pointer owner(found);
    cluster result;
    result.brokers = found->broker_cnt;
    if (found->broker_cnt > 0) result.a_broker = found->brokers[0].id;
    for (int i = 0; i < found->topic_cnt; ++i)
        if (found->topics[i].err == RD_KAFKA_RESP_ERR_NO_ERROR)
            result.topics[found->topics[i].topic] = found->topics[i].partition_cnt;
    return result;
}

/// One request of librdkafka's admin interface and its answer.
class request {
  public:
    request(rd_kafka_t* client, rd_kafka_admin_op_t kind)
        : x_options(rd_kafka_AdminOptions_new(client, kind)), x_queue(rd_kafka_queue_new(client)) {
        char text[256];
        rd_kafka_AdminOptions_set_request_timeout(x_options.get(), request_ms_max, text, sizeof text);
        if (kind == RD_KAFKA_ADMIN_OP_CREATETOPICS)
            rd_kafka_AdminOptions_set_operation_timeout(x_options.get(), request_ms_max, text, sizeof text);
    }
    const rd_kafka_AdminOptions_t* options() const { return x_options.get(); }
    rd_kafka_queue_t* queue() const { return x_queue.get(); }
    /// Blocks until librdkafka has an answer, which it has when the request times out, too.
    result<event_pointer> wait() const {
        event_pointer event(rd_kafka_queue_poll(x_queue.get(), static_cast<int>(request_ms_max) + 1'000));
        if (event == nullptr) return no_answer(RD_KAFKA_RESP_ERR__TIMED_OUT);
        if (rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR)
            return runtime::unavailable(rd_kafka_event_error_string(event.get()));
        return event;
    }

  private:
    admin_options x_options;
    queue_pointer x_queue;
};

// ---- topics
// -----------------------------------------------------------------------------------------------------

/// Everything is set here: changing one setting later would replace all of them (AlterConfigs).
properties settings_of(const topic_settings& topic, int replicas) {
    properties all{
        {"message.timestamp.type", "LogAppendTime"},
        {"max.message.bytes", std::to_string(limits::record_bytes_max + framing_bytes_max)},
        {"min.insync.replicas", replicas >= 3 ? "2" : "1"},
        {"unclean.leader.election.enable", "false"},
        {"retention.bytes", "-1"},
        {"retention.ms", std::to_string(topic.kept_ms)},
        {"cleanup.policy", topic.policy == cleanup::compact ? "compact" : "delete"},
    };
    if (topic.policy == cleanup::compact) {
        all.emplace_back("min.compaction.lag.ms", std::to_string(3'600'000));
        all.emplace_back("max.compaction.lag.ms", std::to_string(day_ms));
    }
    return all;
}

result<new_topic> describe_topic(const installation& installed, const topic_settings& topic, int replicas) {
    char text[256];
    new_topic made(rd_kafka_NewTopic_new(installed.name_of_topic(topic.name).c_str(), topic.partitions,
                                         replicas, text, sizeof text));
    if (made == nullptr) return runtime::failed_precondition(text);
    for (const auto& [name, value] : settings_of(topic, replicas))
        rd_kafka_NewTopic_set_config(made.get(), name.c_str(), value.c_str());
    return made;
}

result<void> create_missing(const installation& installed, rd_kafka_t* client, const cluster& known) {
    const int replicas = known.brokers >= 3 ? 3 : 1;
    std::vector<new_topic> made;
    std::vector<rd_kafka_NewTopic_t*> list;
    for (const topic_settings& topic : all_topics) {
        if (known.topics.contains(installed.name_of_topic(topic.name))) continue;
        result<new_topic> added = describe_topic(installed, topic, replicas);
        if (!added) return added.error();
        list.push_back(added->get());
        made.push_back(std::move(*added));
    }
    if (list.empty()) return {};
    const request asked(client, RD_KAFKA_ADMIN_OP_CREATETOPICS);
    rd_kafka_CreateTopics(client, list.data(), list.size(), asked.options(), asked.queue());
    const result<event_pointer> event = asked.wait();
    if (!event) return event.error();
    std::size_t count = 0;
    const rd_kafka_topic_result_t** topics =
        rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event->get()), &count);
    for (std::size_t i = 0; i < count; ++i) {
        const rd_kafka_resp_err_t code = rd_kafka_topic_result_error(topics[i]);
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR || code == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) continue;
        const char* reason = rd_kafka_topic_result_error_string(topics[i]);
        return runtime::failed_precondition(std::string("topic ") + rd_kafka_topic_result_name(topics[i]) +
                                            ": " + (reason == nullptr ? rd_kafka_err2str(code) : reason));
    }
    return {};
}

/// Until each partition's leader answers for it: a broker may hear of a new topic a moment after the others.
result<void> wait_until_led(const installation& installed, rd_kafka_t* client, std::int64_t deadline_ms) {
    const result<cluster> known = describe(client, count_ms_max);
    if (!known) return known.error();
    for (const topic_settings& topic : all_topics) {
        const std::string name = installed.name_of_topic(topic.name);
        const auto found = known->topics.find(name);
        const std::int32_t partitions = found == known->topics.end() ? topic.partitions : found->second;
        for (std::int32_t partition = 0; partition < partitions; ++partition) {
            std::int64_t first = 0;
            std::int64_t next = 0;
            rd_kafka_resp_err_t code;
            while ((code = rd_kafka_query_watermark_offsets(client, name.c_str(), partition, &first, &next,
                                                            1'000)) != RD_KAFKA_RESP_ERR_NO_ERROR) {
                if (now_ms() > deadline_ms)
                    return runtime::unavailable(name + "[" + std::to_string(partition) +
                                                "]: " + rd_kafka_err2str(code));
                std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
            }
        }
    }
    return {};
}

// ---- first offsets
// ----------------------------------------------------------------------------------------------

partition_list partitions_of_group(const installation& installed, std::string_view group,
                                   const cluster& known) {
    partition_list list(rd_kafka_topic_partition_list_new(64));
    for (const topic_settings& topic : all_topics) {
        const auto found = known.topics.find(installed.name_of_topic(topic.name));
        if (topic.group != group || found == known.topics.end()) continue;
        for (std::int32_t partition = 0; partition < found->second; ++partition)
            rd_kafka_topic_partition_list_add(list.get(), found->first.c_str(), partition)->offset = 0;
    }
    return list;
}

/// The answer to either request about a group's offsets, partition by partition. Errors: unavailable, or
/// failed_precondition when the group has members.
result<partition_list> offsets_in(const rd_kafka_group_result_t** groups, std::size_t count) {
    if (count != 1) return runtime::unavailable("Kafka did not answer about the group");
    const std::string name = rd_kafka_group_result_name(groups[0]);
    if (const rd_kafka_error_t* failed = rd_kafka_group_result_error(groups[0]))
        return runtime::unavailable("group " + name + ": " + rd_kafka_error_string(failed));
    partition_list list(rd_kafka_topic_partition_list_copy(rd_kafka_group_result_partitions(groups[0])));
    for (int i = 0; i < list->cnt; ++i) {
        const rd_kafka_resp_err_t code = list->elems[i].err;
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR) continue;
        const std::string text =
            "group " + name + ", " + list->elems[i].topic + ": " + rd_kafka_err2str(code);
        const bool has_members = code == RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID ||
                                 code == RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS ||
                                 code == RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION;
        return has_members ? runtime::failed_precondition(text + " (it has members: stop the workers first)")
                           : runtime::unavailable(text);
    }
    return list;
}

/// Those of `wanted` that the group never committed.
result<partition_list> never_committed(rd_kafka_t* client, const std::string& group,
                                       const partition_list& wanted) {
    const request asked(client, RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS);
    const list_offsets question(rd_kafka_ListConsumerGroupOffsets_new(group.c_str(), wanted.get()));
    rd_kafka_ListConsumerGroupOffsets_t* all[] = {question.get()};
    rd_kafka_ListConsumerGroupOffsets(client, all, 1, asked.options(), asked.queue());
    const result<event_pointer> event = asked.wait();
    if (!event) return event.error();
    std::size_t count = 0;
    const rd_kafka_group_result_t** groups = rd_kafka_ListConsumerGroupOffsets_result_groups(
        rd_kafka_event_ListConsumerGroupOffsets_result(event->get()), &count);
    const result<partition_list> found = offsets_in(groups, count);
    if (!found) return found.error();
    partition_list missing(rd_kafka_topic_partition_list_new(16));
    for (int i = 0; i < (*found)->cnt; ++i) {
        const rd_kafka_topic_partition_t& each = (*found)->elems[i];
        if (each.offset < 0)
            rd_kafka_topic_partition_list_add(missing.get(), each.topic, each.partition)->offset = 0;
    }
    return missing;
}

/// The broker refuses it while the group has members, so none of them is disturbed.
result<void> commit_first(rd_kafka_t* client, const std::string& group, const partition_list& missing) {
    const request asked(client, RD_KAFKA_ADMIN_OP_ALTERCONSUMERGROUPOFFSETS);
    const alter_offsets change(rd_kafka_AlterConsumerGroupOffsets_new(group.c_str(), missing.get()));
    rd_kafka_AlterConsumerGroupOffsets_t* all[] = {change.get()};
    rd_kafka_AlterConsumerGroupOffsets(client, all, 1, asked.options(), asked.queue());
    const result<event_pointer> event = asked.wait();
    if (!event) return event.error();
    std::size_t count = 0;
    const rd_kafka_group_result_t** groups = rd_kafka_AlterConsumerGroupOffsets_result_groups(
        rd_kafka_event_AlterConsumerGroupOffsets_result(event->get()), &count);
    const result<partition_list> done = offsets_in(groups, count);
    if (!done) return done.error();
    return {};
}

/// One attempt for one group. Repeating it is safe.
result<void> commit_missing(const installation& installed, rd_kafka_t* client, std::string_view group) {
    const result<cluster> known = describe(client, count_ms_max);
    if (!known) return known.error();
    const std::string name = installed.name_of_group(group);
    const result<partition_list> missing =
        never_committed(client, name, partitions_of_group(installed, group, *known));
    if (!missing) return missing.error();
    if ((*missing)->cnt == 0) return {};
    return commit_first(client, name, *missing);
}

// ---- the brokers' own settings
// ----------------------------------------------------------------------------------

void warn_of_short_retention(rd_kafka_t* client, std::int32_t broker) {
    const request asked(client, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
    const config_resource resource(
        rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_BROKER, std::to_string(broker).c_str()));
    rd_kafka_ConfigResource_t* all[] = {resource.get()};
    rd_kafka_DescribeConfigs(client, all, 1, asked.options(), asked.queue());
    const result<event_pointer> event = asked.wait();
    if (!event) return;  // not every operator lets clients see it
    std::size_t count = 0;
    const rd_kafka_ConfigResource_t** resources = rd_kafka_DescribeConfigs_result_resources(
        rd_kafka_event_DescribeConfigs_result(event->get()), &count);
    if (count != 1) return;
    const rd_kafka_ConfigEntry_t** entries = rd_kafka_ConfigResource_configs(resources[0], &count);
    for (std::size_t i = 0; i < count; ++i) {
        if (std::string_view(rd_kafka_ConfigEntry_name(entries[i])) != "offsets.retention.minutes") continue;
        const char* value = rd_kafka_ConfigEntry_value(entries[i]);
        const auto minutes = runtime::parse_decimal(value == nullptr ? "" : value);
        if (minutes && *minutes < offsets_kept_minutes_min)
            runtime::log(runtime::log_level::warning, "kafka_offsets_kept_too_short",
                         {{"offsets.retention.minutes", static_cast<std::int64_t>(*minutes)},
                          {"at_least", static_cast<std::int64_t>(offsets_kept_minutes_min)}});
    }
}

}  // namespace

result<std::int32_t> count_partitions(const installation& installed, rd_kafka_t* client,
                                      const std::string& topic) {
    const topic_pointer handle(rd_kafka_topic_new(client, installed.name_of_topic(topic).c_str(), nullptr));
    const rd_kafka_metadata_t* found = nullptr;
    const rd_kafka_resp_err_t code = rd_kafka_metadata(client, 0, handle.get(), &found, count_ms_max);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return no_answer(code);
    const metadata_pointer owner(found);
    if (found->topic_cnt != 1 || says_unknown(found->topics[0].err))
        return runtime::not_found("there is no topic " + topic + " in Kafka");
    if (found->topics[0].partition_cnt == 0) return no_answer(found->topics[0].err);
    return found->topics[0].partition_cnt;
}

result<void> create_topics(const installation& installed, rd_kafka_t* client) {
    const std::int64_t deadline_ms = now_ms() + create_ms_max;
    const result<cluster> known = describe(client, request_ms_max);
    if (!known) return known.error();
    if (result<void> created = create_missing(installed, client, *known); !created) return created;
    if (result<void> led = wait_until_led(installed, client, deadline_ms); !led) return led;
    std::set<std::string_view> groups;
    for (const topic_settings& topic : all_topics)
        if (!topic.group.empty()) groups.insert(topic.group);
    for (const std::string_view group : groups) {
        // The first use of any group makes the broker create its topic of offsets, so it may take a few
        // attempts.
        result<void> committed = commit_missing(installed, client, group);
        while (!committed && committed.error().code == error_code::unavailable && now_ms() < deadline_ms) {
            std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
            committed = commit_missing(installed, client, group);
        }
        if (!committed) return committed;
    }
    warn_of_short_retention(client, known->a_broker);
    return {};
}

}  // namespace herald::events::kafka
