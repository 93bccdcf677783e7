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
#include "runtime/log_events.hpp"
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
    while (true) {
        const result<cluster> known = describe(client, request_ms_max);
        if (!known) return known.error();
        const partition_list all(rd_kafka_topic_partition_list_new(256));
        for (const topic_settings& topic : all_topics) {
            const std::string name = installed.name_of_topic(topic.name);
            const auto found = known->topics.find(name);
            const std::int32_t partitions = found == known->topics.end() ? topic.partitions : found->second;
            rd_kafka_topic_partition_list_add_range(all.get(), name.c_str(), 0, partitions - 1);
        }
        const rd_kafka_resp_err_t code = ask_leaders(client, *all, RD_KAFKA_OFFSET_END, request_ms_max);
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
        if (now_ms() > deadline_ms) return no_answer(code);
        std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    }
}

// ---- first offsets
// ----------------------------------------------------------------------------------------------

// With a consumer that joins nothing. The admin interface's requests about groups crash librdkafka 2.0.2 when
// the coordinator moves or loads (#5040, #4605).

/// The group's partitions without a committed offset, each with offset 0.
result<partition_list> never_committed(const installation& installed, rd_kafka_t* consumer,
                                       std::string_view group, const cluster& known) {
    const partition_list all(rd_kafka_topic_partition_list_new(64));
    for (const topic_settings& topic : all_topics) {
        const auto found = known.topics.find(installed.name_of_topic(topic.name));
        if (topic.group != group || found == known.topics.end()) continue;
        rd_kafka_topic_partition_list_add_range(all.get(), found->first.c_str(), 0, found->second - 1);
    }
    const rd_kafka_resp_err_t code = rd_kafka_committed(consumer, all.get(), request_ms_max);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return no_answer(code);
    partition_list missing(rd_kafka_topic_partition_list_new(16));
    for (int i = 0; i < all->cnt; ++i) {
        const rd_kafka_topic_partition_t& each = all->elems[i];
        if (each.err != RD_KAFKA_RESP_ERR_NO_ERROR) return no_answer(each.err);
        if (each.offset < 0)
            rd_kafka_topic_partition_list_add(missing.get(), each.topic, each.partition)->offset = 0;
    }
    return missing;
}

/// The broker refuses it while the group has members, so none of them is disturbed.
result<void> commit(rd_kafka_t* consumer, std::string_view group, const partition_list& offsets) {
    const queue_pointer answers(rd_kafka_queue_new(consumer));
    rd_kafka_commit_queue(consumer, offsets.get(), answers.get(), nullptr, nullptr);
    const event_pointer event(rd_kafka_queue_poll(answers.get(), static_cast<int>(request_ms_max)));
    if (event == nullptr) return no_answer(RD_KAFKA_RESP_ERR__TIMED_OUT);
    rd_kafka_resp_err_t code = rd_kafka_event_error(event.get());
    const rd_kafka_topic_partition_list_t* list = rd_kafka_event_topic_partition_list(event.get());
    for (int i = 0; list != nullptr && i < list->cnt; ++i)
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR) code = list->elems[i].err;
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
    if (code == RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID || code == RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS ||
        code == RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION)
        return runtime::failed_precondition(
            "group " + std::string(group) +
            " has members and lacks committed offsets: stop the workers first");
    return no_answer(code);
}

/// Repeating it is safe.
result<void> commit_first(const installation& installed, rd_kafka_t* client, rd_kafka_t* consumer,
                          std::string_view group) {
    const result<cluster> known = describe(client, request_ms_max);
    if (!known) return known.error();
    const result<partition_list> missing = never_committed(installed, consumer, group, *known);
    if (!missing) return missing.error();
    if ((*missing)->cnt == 0) return {};
    return commit(consumer, group, *missing);
}

result<void> commit_first_offsets(const std::shared_ptr<installation>& installed, rd_kafka_t* client,
                                  std::string_view group, std::int64_t deadline_ms) {
    client_wishes wishes;
    wishes.more = {{"group.id", installed->name_of_group(group)}};
    const result<client_pointer> consumer = open_client(installed, client_kind::member, wishes);
    if (!consumer) return consumer.error();
    // The first use of any group makes the broker create its topic of offsets, so it may take a few attempts.
    result<void> committed = commit_first(*installed, client, consumer->get(), group);
    while (!committed && committed.error().code == error_code::unavailable && now_ms() < deadline_ms) {
        std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
        committed = commit_first(*installed, client, consumer->get(), group);
    }
    return committed;
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
            runtime::log(runtime::log_level::warning, runtime::log_events::kafka_offsets_kept_too_short,
                         {{"minutes", static_cast<std::int64_t>(*minutes)},
                          {"minutes_min", static_cast<std::int64_t>(offsets_kept_minutes_min)}});
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

result<void> create_topics(const std::shared_ptr<installation>& installed, rd_kafka_t* client) {
    const std::int64_t deadline_ms = now_ms() + create_ms_max;
    const result<cluster> known = describe(client, request_ms_max);
    if (!known) return known.error();
    if (result<void> created = create_missing(*installed, client, *known); !created) return created;
    if (result<void> led = wait_until_led(*installed, client, deadline_ms); !led) return led;
    std::set<std::string_view> groups;
    for (const topic_settings& topic : all_topics)
        if (!topic.group.empty()) groups.insert(topic.group);
    for (const std::string_view group : groups)
        if (result<void> done = commit_first_offsets(installed, client, group, deadline_ms); !done)
            return done;
    warn_of_short_retention(client, known->a_broker);
    return {};
}

}  // namespace herald::events::kafka
