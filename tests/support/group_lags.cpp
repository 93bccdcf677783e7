// What an autoscaler asks a broker, for tests/support/autoscaler.py.
//   group_lags BOOTSTRAP PREFIX   answers each line of its input with one line of JSON:
//     lags     of each group that operators scale by: [lag, partitions with lag, partitions]
//     put_off  of each topic whose records wait for a time: those that ever entered it, by webhook
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "events/log/kafka/kafka_log.hpp"
#include "events/log/topics.hpp"

namespace {

using namespace herald::events::log;

constexpr std::string_view scaled_by[] = {group::events, group::direct, group::waiting};
constexpr std::size_t records_a_poll_max = 1'000;
constexpr std::int64_t poll_wait_ms = 200;
constexpr int silent_polls_max = 50;
constexpr int questions_max = 5;  // a leader that has no CPU answers late

template <class Value>
Value must(const char* what, herald::result<Value> got) {
    if (got) return *std::move(got);
    std::fprintf(stderr, "group_lags: %s: %s\n", what, got.error().message.c_str());
    std::exit(1);
}

/// Another version of Herald may have fewer topics.
bool exists(partitioned_log& log, const std::string& topic) {
    const auto partitions = log.partitions(topic);
    return partitions || partitions.error().code != herald::error_code::not_found;
}

offset_range range_of(partitioned_log& log, const topic_partition& where) {
    herald::result<offset_range> range;
    for (int question = 0; question < questions_max; ++question) {
        std::promise<herald::result<offset_range>> answer;
        log.query_range(where, [&](herald::result<offset_range> got) { answer.set_value(std::move(got)); });
        range = answer.get_future().get();
        if (range) break;
    }
    return must("the end of a partition", std::move(range));
}

std::string lags(partitioned_log& log) {
    std::string text = "{";
    for (const std::string_view wanted : scaled_by) {
        std::int64_t lag = 0;
        int behind = 0;
        int partitions = 0;
        for (const topic_settings& topic : all_topics) {
            if (topic.group != wanted) continue;
            const std::string name(topic.name);
            if (!exists(log, name)) continue;
            const auto committed = must("committed offsets", log.committed(name));
            for (std::size_t number = 0; number < committed.size(); ++number) {
                const offset_range range = range_of(log, {name, static_cast<std::int32_t>(number)});
                const std::int64_t here = range.next - committed[number];
                lag += here;
                behind += here > 0 ? 1 : 0;
                ++partitions;
            }
        }
        text += (text.size() > 1 ? ",\"" : "\"") + std::string(wanted) + "\":[" + std::to_string(lag) + "," +
                std::to_string(behind) + "," + std::to_string(partitions) + "]";
    }
    return text + "}";
}

void count_records(partitioned_log& log, const topic_partition& where,
                   std::map<std::string, std::int64_t>& by_webhook) {
    const offset_range range = range_of(log, where);
    if (range.next == range.first) return;
    const auto reader = log.open_reader(where, range.first);
    std::int64_t next = range.first;
    for (int silent = 0; next < range.next && silent < silent_polls_max; ++silent) {
        const auto batch = reader->poll(records_a_poll_max, poll_wait_ms);
        if (!batch) continue;
        for (const record& each : batch->records) {
            ++by_webhook[each.key];
            next = each.offset + 1;
            silent = 0;
        }
    }
}

std::string put_off(partitioned_log& log) {
    std::string text = "{";
    for (const topic_settings& each : all_topics) {
        const bool is_for_room = each.group == group::waiting && each.name != topic::waiting;
        if (each.group != group::retry && !is_for_room) continue;
        const std::string name(each.name);
        if (!exists(log, name)) continue;
        std::map<std::string, std::int64_t> by_webhook;
        const std::int32_t partitions = must("partitions", log.partitions(name));
        for (std::int32_t number = 0; number < partitions; ++number)
            count_records(log, {name, number}, by_webhook);
        text += (text.size() > 1 ? ",\"" : "\"") + name + "\":{";
        for (const auto& [webhook, count] : by_webhook)
            text += (text.back() == '{' ? "\"" : ",\"") + webhook + "\":" + std::to_string(count);
        text += "}";
    }
    return text + "}";
}

}  // namespace

int main(int count, char** values) {
    if (count != 3) {
        std::fprintf(stderr, "usage: group_lags BOOTSTRAP PREFIX\n");
        return 2;
    }
    kafka::kafka_options options;
    options.bootstrap_servers = values[1];
    options.topic_prefix = values[2];
    const auto log = must("Kafka", kafka::make_kafka_log(std::move(options)));
    std::string question;
    while (std::getline(std::cin, question)) {
        const std::string answer = question == "put_off" ? put_off(*log) : lags(*log);
        std::printf("%s\n", answer.c_str());
        std::fflush(stdout);
    }
    return 0;
}
