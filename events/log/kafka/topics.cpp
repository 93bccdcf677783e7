// Which settings a topic must have (kafka.md §3), what differs, and the command that fixes it.
#include "events/log/kafka/topics.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "events/log/kafka/admin.hpp"
#include "events/log/kafka/group_offsets.hpp"
#include "events/log/kafka/limits.hpp"
#include "events/log/limits.hpp"
#include "events/log/topics.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "runtime/text.hpp"

namespace herald::events::log::kafka {
namespace {

using new_topic = std::unique_ptr<rd_kafka_NewTopic_t, destroyed_by<rd_kafka_NewTopic_destroy>>;

// ---- what is right

/// Whether the number of copies must be exactly the operator's present choice (init), or only enough for the
/// guarantees.
enum class copies : std::uint8_t { exactly, at_least };

/// What a value that differs from ours means.
enum class rule : std::uint8_t { equal, at_least, kept_at_least };  // kept_at_least: −1 means for ever

struct topic_property {
    std::string name;
    std::string value;
    rule judged = rule::equal;
};

constexpr std::string_view insync_min = "min.insync.replicas";
std::int32_t insync_min_of(std::int32_t replicas) { return std::max(replicas - 1, 1); }

/// All settings are given when a topic is made: changing a single one later would replace all of them
/// (AlterConfigs).
std::vector<topic_property> properties_of(const topic_settings& topic, std::int32_t replicas) {
    std::vector<topic_property> all{
        {"message.timestamp.type", "LogAppendTime"},
        {"max.message.bytes", std::to_string(limits::record_bytes_max + limits::kafka_framing_bytes_max),
         rule::at_least},
        {std::string(insync_min), std::to_string(insync_min_of(replicas))},
        {"unclean.leader.election.enable", "false"},
        {"retention.bytes", "-1"},
        {"retention.ms", std::to_string(topic.kept_ms), rule::kept_at_least},
        {"cleanup.policy", topic.policy == cleanup::compact ? "compact" : "delete"},
    };
    if (topic.policy == cleanup::compact) {
        all.push_back({"min.compaction.lag.ms", std::to_string(3'600'000), rule::at_least});
        all.push_back({"max.compaction.lag.ms", std::to_string(day_ms)});
    }
    return all;
}

bool is_right(const topic_property& ours, const std::string& found) {
    if (found == ours.value) return true;
    if (ours.judged == rule::equal) return false;
    if (ours.judged == rule::kept_at_least && found == "-1") return true;
    const auto least = runtime::parse_decimal(ours.value);
    const auto value = runtime::parse_decimal(found);
    return least && value && *value >= *least;
}

// ---- what differs

/// One topic that is not as it must be: "herald.x: …", and the commands that fix it.
struct difference {
    std::string topic;
    std::vector<std::string> wrong;
    std::vector<std::string> mends;

    std::string text() const {
        std::string all = topic + ":";
        for (const std::string& each : wrong) all += " " + each + ";";
        for (const std::string& each : mends) all += "\n    " + each;
        return all;
    }
};

class comparison {
  public:
    comparison(const installation& installed, rd_kafka_t* client, std::int32_t replicas, copies judged)
        : x_installed(installed), x_client(client), x_replicas(replicas), x_copies(judged) {}

    struct outcome {
        std::vector<difference> differ;
        std::string unseen;  // why some settings may not be read, which are assumed to be right; empty: none
        /// Once all is decided: a start compares again and again.
        void log_unseen() const {
            if (!unseen.empty())
                runtime::log(runtime::log_level::warning, runtime::log_events::kafka_topics_unseen,
                             {{"reason", std::string_view(unseen)}});
        }
    };
    /// Errors: unavailable.
    result<outcome> run(const cluster& known) const {
        std::vector<std::string> names;
        for (const topic_settings& topic : all_topics)
            if (known.topics.contains(x_installed.name_of_topic(topic.name)))
                names.push_back(x_installed.name_of_topic(topic.name));
        const auto seen = describe_settings(x_installed, x_client, RD_KAFKA_RESOURCE_TOPIC, names);
        if (!seen) return seen.error();
        outcome all;
        for (const topic_settings& topic : all_topics) {
            const std::string name = x_installed.name_of_topic(topic.name);
            const auto shape = known.topics.find(name);
            if (shape == known.topics.end()) continue;
            difference found{name, {}, {}};
            compare_shape(found, topic, shape->second);
            const auto settings = seen->find(name);
            if (settings != seen->end() && settings->second.code == RD_KAFKA_RESP_ERR_NO_ERROR)
                compare_settings(found, topic, settings->second);
            else
                all.unseen = settings == seen->end() ? "no answer" : rd_kafka_err2str(settings->second.code);
            if (!found.wrong.empty()) all.differ.push_back(std::move(found));
        }
        return all;
    }

  private:
    std::string tool(const char* name) const {
        return std::string(name) + ".sh --bootstrap-server " + x_installed.options.bootstrap_servers;
    }

    void compare_shape(difference& found, const topic_settings& topic, const topic_shape& shape) const {
        if (shape.partitions != topic.partitions) {
            found.wrong.push_back("it has " + std::to_string(shape.partitions) +
                                  " partitions and must have " + std::to_string(topic.partitions));
            found.mends.push_back(shape.partitions < topic.partitions
                                      ? tool("kafka-topics") + " --alter --topic " + found.topic +
                                            " --partitions " + std::to_string(topic.partitions)
                                      : tool("kafka-topics") + " --delete --topic " + found.topic +
                                            "   # only while it is empty; `herald init` makes it again");
        }
        if (shape.replicas < x_replicas || (x_copies == copies::exactly && shape.replicas != x_replicas)) {
            found.wrong.push_back("it has " + std::to_string(shape.replicas) + " replicas and must have " +
                                  std::to_string(x_replicas) + " (--replication)");
            found.mends.push_back(tool("kafka-reassign-partitions") +
                                  " --reassignment-json-file FILE --execute   # FILE names the replicas");
        }
    }

    void compare_settings(difference& found, const topic_settings& topic, const described& settings) const {
        std::string mend;
        for (topic_property ours : properties_of(topic, x_replicas)) {
            if (x_copies == copies::at_least && ours.name == insync_min) ours.judged = rule::at_least;
            const auto theirs = settings.settings.find(ours.name);
            if (theirs == settings.settings.end() || is_right(ours, theirs->second)) continue;
            found.wrong.push_back(ours.name + " is " + theirs->second + " and must be " +
                                  (ours.judged == rule::equal ? "" : "at least ") + ours.value);
            mend += (mend.empty() ? "" : ",") + ours.name + "=" + ours.value;
        }
        if (!mend.empty())
            found.mends.push_back(tool("kafka-configs") + " --alter --entity-type topics --entity-name " +
                                  found.topic + " --add-config " + mend);
    }

    const installation& x_installed;
    rd_kafka_t* x_client;
    const std::int32_t x_replicas;
    const copies x_copies;
};

error refusal(const std::vector<difference>& all) {
    std::string text = "topics are not as Herald needs them; these commands of Kafka mend it:";
    for (const difference& each : all) text += "\n  " + each.text();
    return runtime::failed_precondition(std::move(text));
}

// ---- making

std::vector<const topic_settings*> missing_topics(const installation& installed, const cluster& known) {
    std::vector<const topic_settings*> missing;
    for (const topic_settings& topic : all_topics)
        if (!known.topics.contains(installed.name_of_topic(topic.name))) missing.push_back(&topic);
    return missing;
}

result<new_topic> describe_topic(const installation& installed, const topic_settings& topic) {
    const std::int32_t replicas = installed.options.replicas;
    char text[256];
    new_topic made(rd_kafka_NewTopic_new(installed.name_of_topic(topic.name).c_str(), topic.partitions,
                                         replicas, text, sizeof text));
    if (made == nullptr) return runtime::invalid_argument(text);
    for (const topic_property& each : properties_of(topic, replicas))
        rd_kafka_NewTopic_set_config(made.get(), each.name.c_str(), each.value.c_str());
    return made;
}

result<void> create(const installation& installed, rd_kafka_t* client,
                    const std::vector<const topic_settings*>& missing) {
    std::vector<new_topic> made;
    std::vector<rd_kafka_NewTopic_t*> list;
    for (const topic_settings* topic : missing) {
        result<new_topic> added = describe_topic(installed, *topic);
        if (!added) return added.error();
        list.push_back(added->get());
        made.push_back(std::move(*added));
    }
    const admin_request asked(installed, client, RD_KAFKA_ADMIN_OP_CREATETOPICS);
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
        return runtime::failed_precondition({"topic ", rd_kafka_topic_result_name(topics[i]), ": ",
                                             (reason == nullptr ? rd_kafka_err2str(code) : reason)});
    }
    return {};
}

/// Waits until each partition's leader answers for it: some brokers learn of a new topic a moment later than
/// others.
result<void> wait_until_led(const installation& installed, rd_kafka_t* client, std::int64_t deadline_ms) {
    while (true) {
        const result<cluster> known = describe_cluster(installed, client, limits::kafka_admin_request_ms_max);
        if (!known) return known.error();
        const partition_list all(rd_kafka_topic_partition_list_new(256));
        for (const topic_settings& topic : all_topics)
            rd_kafka_topic_partition_list_add_range(all.get(), installed.name_of_topic(topic.name).c_str(), 0,
                                                    topic.partitions - 1);
        const rd_kafka_resp_err_t code =
            ask_leaders(client, *all, RD_KAFKA_OFFSET_END, limits::kafka_admin_request_ms_max);
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
        if (now_ms() > deadline_ms)
            return runtime::unavailable(
                {"not all partitions have a leader that answers: ", rd_kafka_err2str(code)});
        std::this_thread::sleep_for(std::chrono::milliseconds(limits::kafka_admin_pause_ms));
    }
}

result<void> create_missing(const installation& installed, rd_kafka_t* client, const cluster& known,
                            std::int64_t deadline_ms) {
    const auto missing = missing_topics(installed, known);
    if (missing.empty()) return {};
    const std::int32_t replicas = installed.options.replicas;
    if (known.brokers < replicas)
        return runtime::resource_exhausted(
            {replicas, " copies of each topic need as many brokers, and ", known.brokers,
             " answer: start the others; for a trial say --replication ", known.brokers});
    if (result<void> created = create(installed, client, missing); !created) return created;
    std::string names;
    for (const topic_settings* each : missing) names += (names.empty() ? "" : " ") + std::string(each->name);
    runtime::log(runtime::log_level::info, runtime::log_events::kafka_topics_created,
                 {{"topics", std::string_view(names)}, {"replicas", std::int64_t{replicas}}});
    return wait_until_led(installed, client, deadline_ms);
}

result<cluster> wait_for_cluster(const installation& installed, rd_kafka_t* client, std::int64_t wait_ms) {
    const std::int64_t deadline_ms = now_ms() + wait_ms;
    result<cluster> known = describe_cluster(installed, client, wait_ms);
    while (!known && now_ms() < deadline_ms) {
        std::this_thread::sleep_for(std::chrono::milliseconds(limits::kafka_admin_pause_ms));
        known = describe_cluster(installed, client, std::max<std::int64_t>(deadline_ms - now_ms(), 1));
    }
    return known;
}

}  // namespace

result<void> create_topics(const std::shared_ptr<installation>& installed, rd_kafka_t* client) {
    const std::int64_t deadline_ms = now_ms() + limits::kafka_create_topics_ms_max;
    const result<cluster> known = wait_for_cluster(*installed, client, limits::kafka_check_topics_ms_max);
    if (!known) return known.error();
    const auto differences =
        comparison(*installed, client, installed->options.replicas, copies::exactly).run(*known);
    if (!differences) return differences.error();
    differences->log_unseen();
    if (!differences->differ.empty()) return refusal(differences->differ);
    if (auto created = create_missing(*installed, client, *known, deadline_ms); !created) return created;
    if (auto done = commit_first_offsets(installed, client, deadline_ms); !done) return done;
    warn_of_short_retention(*installed, client);
    return {};
}

result<cluster> check_topics(const installation& installed, rd_kafka_t* client, std::int64_t wait_ms) {
    result<cluster> known = wait_for_cluster(installed, client, wait_ms);
    if (!known) return known;
    const std::string commands = installed.name_of_topic(log::topic::commands);
    const auto found = known->topics.find(commands);
    if (found == known->topics.end()) {
        // The list omits topics that these credentials may not see; when such a topic is asked for by name,
        // the broker says so.
        const auto counted = count_partitions(installed, client, std::string(log::topic::commands));
        return counted ? runtime::unavailable({"Kafka does not list ", commands}) : counted.error();
    }
    // The number that `init` was given is not known here.
    const std::int32_t replicas = std::min(found->second.replicas, replicas_default);
    const auto differences = comparison(installed, client, replicas, copies::at_least).run(*known);
    if (!differences) return differences.error();
    for (const difference& each : differences->differ)
        if (each.topic == commands) return refusal({each});
    if (const auto missing = missing_topics(installed, *known); !missing.empty())
        return runtime::not_found({"topic ", installed.name_of_topic(missing.front()->name),
                                   " is missing: run `herald init` again"});
    differences->log_unseen();
    if (found->second.replicas == 1)
        runtime::log(runtime::log_level::warning, runtime::log_events::kafka_single_copy,
                     {{"topic", std::string_view(commands)}});
    for (const difference& each : differences->differ)
        runtime::log(runtime::log_level::warning, runtime::log_events::kafka_topic_differs,
                     {{"topic", std::string_view(each.topic)}, {"message", each.text()}});
    return known;
}

}  // namespace herald::events::log::kafka
