// Uses consumers that join no group: the admin interface's requests about groups crash librdkafka 2.0.2 when
// the coordinator moves or loads (#5040, #4605).
#include "events/log/kafka/group_offsets.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "events/log/kafka/admin.hpp"
#include "events/log/kafka/limits.hpp"
#include "events/log/topics.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "runtime/text.hpp"

namespace herald::events::log::kafka {
namespace {

std::set<std::string> all_groups() {
    std::set<std::string> groups;
    for (const topic_settings& topic : all_topics)
        if (!topic.group.empty()) groups.emplace(topic.group);
    return groups;
}

result<client_pointer> open_consumer(const std::shared_ptr<installation>& installed,
                                     const std::string& group) {
    client_wishes wishes;
    wishes.more = {{"group.id", installed->name_of_group(group)}};
    return open_client(installed, client_kind::member, wishes);
}

std::int64_t wait_ms_until(std::int64_t deadline_ms) {
    return std::clamp(deadline_ms - now_ms(), limits::kafka_last_request_ms_max,
                      limits::kafka_admin_request_ms_max);
}

/// First and next offset of every partition in the list.
result<std::vector<offset_range>> ranges_of(const installation& installed, rd_kafka_t* client,
                                            const rd_kafka_topic_partition_list_t& asked,
                                            std::int64_t deadline_ms) {
    std::vector<offset_range> ranges(static_cast<std::size_t>(asked.cnt));
    if (asked.cnt == 0) return ranges;
    const partition_list list(rd_kafka_topic_partition_list_copy(&asked));
    for (const std::int64_t which :
         {std::int64_t{RD_KAFKA_OFFSET_BEGINNING}, std::int64_t{RD_KAFKA_OFFSET_END}}) {
        const rd_kafka_resp_err_t code = ask_leaders(client, *list, which, wait_ms_until(deadline_ms));
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return installed.no_answer(code);
        for (std::size_t i = 0; i < ranges.size(); ++i)
            (which == RD_KAFKA_OFFSET_BEGINNING ? ranges[i].first : ranges[i].next) = list->elems[i].offset;
    }
    return ranges;
}

/// One attempt; a coordinator that is moving or loading is an error.
result<std::vector<lost_place>> find_of_group(const installation& installed, rd_kafka_t* client,
                                              rd_kafka_t* consumer, const std::string& group,
                                              std::int64_t deadline_ms) {
    const result<cluster> known = describe_cluster(installed, client, wait_ms_until(deadline_ms));
    if (!known) return known.error();
    const partition_list all(rd_kafka_topic_partition_list_new(64));
    for (const topic_settings& topic : all_topics) {
        const auto found = known->topics.find(installed.name_of_topic(topic.name));
        if (topic.group != group || found == known->topics.end()) continue;
        rd_kafka_topic_partition_list_add_range(all.get(), found->first.c_str(), 0,
                                                found->second.partitions - 1);
    }
    if (all->cnt == 0)
        return runtime::not_found({"there is no topic of group ", installed.name_of_group(group),
                                   " in Kafka: is --topic-prefix right? Else run `herald init` first"});
    const rd_kafka_resp_err_t code =
        rd_kafka_committed(consumer, all.get(), static_cast<int>(wait_ms_until(deadline_ms)));
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return installed.no_answer(code);
    const auto ranges = ranges_of(installed, client, *all, deadline_ms);
    if (!ranges) return ranges.error();
    std::vector<lost_place> lost;
    for (std::size_t i = 0; i < ranges->size(); ++i) {
        const rd_kafka_topic_partition_t& each = all->elems[i];
        if (each.err != RD_KAFKA_RESP_ERR_NO_ERROR) return installed.no_answer(each.err);
        const offset_range& there = (*ranges)[i];
        if (each.offset >= there.first && each.offset <= there.next) continue;
        lost.push_back({group,
                        {installed.topic_of_name(each.topic), each.partition},
                        std::max<std::int64_t>(each.offset, -1),
                        there});
    }
    return lost;
}

result<std::vector<lost_place>> find_until(const std::shared_ptr<installation>& installed, rd_kafka_t* client,
                                           std::int64_t deadline_ms) {
    std::vector<lost_place> all;
    for (const std::string& group : all_groups()) {
        const result<client_pointer> consumer = open_consumer(installed, group);
        if (!consumer) return consumer.error();
        // The first use of any group makes the broker create its offsets topic, which may take a few
        // attempts.
        auto found = find_of_group(*installed, client, consumer->get(), group, deadline_ms);
        while (!found && found.error().code == error_code::unavailable && now_ms() < deadline_ms) {
            std::this_thread::sleep_for(std::chrono::milliseconds(limits::kafka_admin_pause_ms));
            found = find_of_group(*installed, client, consumer->get(), group, deadline_ms);
        }
        if (!found) return found.error();
        all.insert(all.end(), found->begin(), found->end());
    }
    return all;
}

/// The broker refuses this while the group has members, so no member is disturbed.
result<void> commit(const installation& installed, rd_kafka_t* consumer, const std::string& group,
                    const rd_kafka_topic_partition_list_t& offsets) {
    const queue_pointer answers(rd_kafka_queue_new(consumer));
    rd_kafka_commit_queue(consumer, &offsets, answers.get(), nullptr, nullptr);
    const event_pointer event(
        rd_kafka_queue_poll(answers.get(), static_cast<int>(limits::kafka_admin_request_ms_max)));
    if (event == nullptr) return installed.no_answer(RD_KAFKA_RESP_ERR__TIMED_OUT);
    rd_kafka_resp_err_t code = rd_kafka_event_error(event.get());
    const rd_kafka_topic_partition_list_t* list = rd_kafka_event_topic_partition_list(event.get());
    for (int i = 0; list != nullptr && i < list->cnt; ++i)
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR) code = list->elems[i].err;
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
    if (code == RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID || code == RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS ||
        code == RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION)
        return runtime::failed_precondition(
            {"group ", group, " has members and lacks committed offsets: stop the workers first"});
    return installed.no_answer(code);
}

}  // namespace

result<void> commit_first_offsets(const std::shared_ptr<installation>& installed, rd_kafka_t* client,
                                  std::int64_t deadline_ms) {
    auto lost = find_until(installed, client, deadline_ms);
    if (!lost) return lost.error();
    std::erase_if(*lost, [](const lost_place& each) { return each.committed >= 0; });
    return reset_lost_places(installed, *lost);
}

result<std::vector<lost_place>> find_lost_places(const std::shared_ptr<installation>& installed,
                                                 rd_kafka_t* client) {
    return find_until(installed, client, now_ms() + limits::kafka_find_group_ms_max);
}

result<std::vector<std::int64_t>> find_committed(const std::shared_ptr<installation>& installed,
                                                 rd_kafka_t* client, const std::string& topic) {
    const topic_settings* const known = find_topic(topic);
    if (known == nullptr || known->group.empty())
        return runtime::not_found({"no group reads the topic ", topic});
    const auto count = count_partitions(*installed, client, topic);
    if (!count) return count.error();
    const result<client_pointer> consumer = open_consumer(installed, std::string(known->group));
    if (!consumer) return consumer.error();
    const std::int64_t deadline_ms = now_ms() + limits::kafka_find_group_ms_max;
    const partition_list all(rd_kafka_topic_partition_list_new(*count));
    rd_kafka_topic_partition_list_add_range(all.get(), installed->name_of_topic(topic).c_str(), 0,
                                            *count - 1);
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR__TIMED_OUT;
    while (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        code = rd_kafka_committed(consumer->get(), all.get(), static_cast<int>(wait_ms_until(deadline_ms)));
        for (int i = 0; i < all->cnt && code == RD_KAFKA_RESP_ERR_NO_ERROR; ++i) code = all->elems[i].err;
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR) break;
        if (now_ms() >= deadline_ms) return installed->no_answer(code);
        std::this_thread::sleep_for(std::chrono::milliseconds(limits::kafka_admin_pause_ms));
    }
    std::vector<std::int64_t> places;
    for (int i = 0; i < all->cnt; ++i) places.push_back(std::max<std::int64_t>(all->elems[i].offset, 0));
    return places;
}

result<void> reset_lost_places(const std::shared_ptr<installation>& installed,
                               const std::vector<lost_place>& all) {
    for (const std::string& group : all_groups()) {
        const partition_list offsets(rd_kafka_topic_partition_list_new(16));
        for (const lost_place& each : all)
            if (each.group == group)
                rd_kafka_topic_partition_list_add(
                    offsets.get(), installed->name_of_topic(each.where.topic).c_str(), each.where.partition)
                    ->offset = each.there.first;
        if (offsets->cnt == 0) continue;
        const result<client_pointer> consumer = open_consumer(installed, group);
        if (!consumer) return consumer.error();
        if (auto done = commit(*installed, consumer->get(), group, *offsets); !done) return done;
    }
    return {};
}

void warn_of_short_retention(const installation& installed, rd_kafka_t* client) {
    const result<cluster> known = describe_cluster(installed, client, limits::kafka_admin_request_ms_max);
    if (!known) return;
    const std::string broker = std::to_string(known->a_broker);
    const auto seen = describe_settings(installed, client, RD_KAFKA_RESOURCE_BROKER, {broker});
    if (!seen || !seen->contains(broker)) return;  // not every operator lets clients read it
    const auto& settings = seen->find(broker)->second.settings;
    const auto found = settings.find("offsets.retention.minutes");
    const auto minutes = runtime::parse_decimal(found == settings.end() ? "" : found->second);
    if (minutes && *minutes < limits::kafka_offsets_kept_minutes_min)
        runtime::log(runtime::log_level::warning, runtime::log_events::kafka_offsets_kept_too_short,
                     {{"minutes", static_cast<std::int64_t>(*minutes)},
                      {"minutes_min", static_cast<std::int64_t>(limits::kafka_offsets_kept_minutes_min)}});
}

}  // namespace herald::events::log::kafka
