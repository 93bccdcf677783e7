// librdkafka's side of a group member: rebalance callback, committed offsets, commits, pausing, leaving.
#include "events/kafka/membership.hpp"

#include <cstring>
#include <utility>

#include "runtime/crypto.hpp"
#include "runtime/log.hpp"

namespace herald::events::kafka {
namespace {

constexpr int committed_ms_max = 5'000;

using admin_options = std::unique_ptr<rd_kafka_AdminOptions_t, destroyed_by<rd_kafka_AdminOptions_destroy>>;
using offsets_question = std::unique_ptr<rd_kafka_ListConsumerGroupOffsets_t,
                                         destroyed_by<rd_kafka_ListConsumerGroupOffsets_destroy>>;

/// Committed metadata travels as base64: librdkafka loses what is after a NUL byte (#4876).
std::string metadata_of(const rd_kafka_topic_partition_t& partition) {
    if (partition.metadata == nullptr) return {};
    const std::string_view text(static_cast<const char*>(partition.metadata), partition.metadata_size);
    const result<std::string> metadata = runtime::from_base64(text);
    return metadata ? *metadata : std::string();  // not ours: committed with a tool
}

void set_metadata(rd_kafka_topic_partition_t& partition, const std::string& metadata) {
    if (metadata.empty()) return;
    const std::string text = runtime::to_base64(metadata);
    partition.metadata = rd_kafka_mem_malloc(nullptr, text.size());  // the list frees it
    std::memcpy(partition.metadata, text.data(), text.size());
    partition.metadata_size = text.size();
}

void log_failure(const char* event, std::string_view group, const char* reason) {
    runtime::log(runtime::log_level::warning, event, {{"group", group}, {"reason", reason}});
}

}  // namespace

result<std::shared_ptr<membership>> membership::join(std::shared_ptr<installation> installed,
                                                     const std::string& group,
                                                     const std::vector<std::string>& topics,
                                                     std::shared_ptr<bell> rung) {
    const std::shared_ptr<membership> joined(new membership(std::move(installed)));
    joined->x_group = joined->x_installed->name_of_group(group);
    joined->x_bell = std::move(rung);
    client_wishes wishes;
    wishes.more = {{"group.id", joined->x_group}};
    wishes.opaque = joined.get();
    wishes.on_rebalance = on_rebalance;
    const result<rd_kafka_t*> client = open_raw_client(*joined->x_installed, client_kind::member, wishes);
    if (!client) return client.error();
    joined->x_client = *client;
    rd_kafka_poll_set_consumer(*client);
    joined->x_records.reset(rd_kafka_queue_get_consumer(*client));
    joined->x_answers.reset(rd_kafka_queue_new(*client));
    joined->x_bell->hang_on(joined->x_records.get());
    joined->x_bell->hang_on(joined->x_answers.get());
    const partition_list names(rd_kafka_topic_partition_list_new(static_cast<int>(topics.size())));
    for (const std::string& topic : topics)
        rd_kafka_topic_partition_list_add(names.get(), joined->x_installed->name_of_topic(topic).c_str(),
                                          RD_KAFKA_PARTITION_UA);
    const rd_kafka_resp_err_t code = rd_kafka_subscribe(*client, names.get());
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return joined;
    joined->close(0);
    return runtime::internal("cannot join " + group + ": " + rd_kafka_err2str(code));
}

membership::~membership() {
    if (x_client != nullptr) rd_kafka_destroy(x_client);  // on the closing room's thread, see close()
}

void membership::on_rebalance(rd_kafka_t* client, rd_kafka_resp_err_t code,
                              rd_kafka_topic_partition_list_t* list, void* self) {
    membership& mine = *static_cast<membership*>(self);
    if (mine.x_is_closing) {
        rd_kafka_assign(client, nullptr);
        return;
    }
    if (code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
        offered change;
        for (int i = 0; i < list->cnt; ++i)
            change.partitions.push_back(
                {mine.x_installed->topic_of_name(list->elems[i].topic), list->elems[i].partition});
        mine.x_change = std::move(change);
    } else {
        if (code != RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS)
            log_failure("kafka_rebalance_failed", mine.x_group, rd_kafka_err2str(code));
        mine.x_change = recalled{};
    }
    rd_kafka_yield(client);  // ends the wait of next()
}

message_pointer membership::next(std::int64_t wait_ms) {
    return message_pointer(rd_kafka_consumer_poll(x_client, static_cast<int>(wait_ms)));
}

std::optional<group_change> membership::take_change() { return std::exchange(x_change, std::nullopt); }

partition_list membership::list_of_all(const std::vector<topic_partition>& all) const {
    partition_list list(rd_kafka_topic_partition_list_new(static_cast<int>(all.size())));
    for (const topic_partition& each : all)
        rd_kafka_topic_partition_list_add(list.get(), x_installed->name_of_topic(each.topic).c_str(),
                                          each.partition);
    return list;
}

// ---- committed offsets
// ------------------------------------------------------------------------------------------

void membership::ask_committed(const std::vector<topic_partition>& partitions) {
    ++x_question;
    x_committed.reset();
    const partition_list list = list_of_all(partitions);
    const offsets_question question(rd_kafka_ListConsumerGroupOffsets_new(x_group.c_str(), list.get()));
    const admin_options options(
        rd_kafka_AdminOptions_new(x_client, RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS));
    char text[256];
    rd_kafka_AdminOptions_set_request_timeout(options.get(), committed_ms_max, text, sizeof text);
    rd_kafka_AdminOptions_set_opaque(options.get(), reinterpret_cast<void*>(x_question));
    rd_kafka_ListConsumerGroupOffsets_t* all[] = {question.get()};
    rd_kafka_ListConsumerGroupOffsets(x_client, all, 1, options.get(), x_answers.get());
}

std::optional<result<std::vector<committed_offset>>> membership::take_committed(std::int64_t wait_ms) {
    const std::int64_t deadline_ms = now_ms() + wait_ms;
    while (!x_committed) {
        const std::int64_t left_ms = std::max<std::int64_t>(deadline_ms - now_ms(), 0);
        const event_pointer event(rd_kafka_queue_poll(x_answers.get(), static_cast<int>(left_ms)));
        if (event == nullptr) break;
        hear(event.get());
    }
    return std::exchange(x_committed, std::nullopt);
}

void membership::hear(rd_kafka_event_t* event) {
    if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_LISTCONSUMERGROUPOFFSETS_RESULT) {
        // An answer to an older question is about partitions that may be another member's by now.
        if (reinterpret_cast<std::uintptr_t>(rd_kafka_event_opaque(event)) == x_question)
            hear_committed(event);
    } else if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_OFFSET_COMMIT) {
        --x_commits_in_flight;
        const rd_kafka_resp_err_t code = rd_kafka_event_error(event);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
            log_failure("kafka_commit_failed", x_group, rd_kafka_event_error_string(event));
    }
}

void membership::hear_committed(rd_kafka_event_t* event) {
    if (rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        x_committed = runtime::unavailable(rd_kafka_event_error_string(event));
        return;
    }
    std::size_t count = 0;
    const rd_kafka_group_result_t** groups = rd_kafka_ListConsumerGroupOffsets_result_groups(
        rd_kafka_event_ListConsumerGroupOffsets_result(event), &count);
    const rd_kafka_error_t* group_error = count == 1 ? rd_kafka_group_result_error(groups[0]) : nullptr;
    if (count != 1 || group_error != nullptr) {
        x_committed = runtime::unavailable(group_error == nullptr ? "no answer about the group"
                                                                  : rd_kafka_error_string(group_error));
        return;
    }
    std::vector<committed_offset> found;
    const rd_kafka_topic_partition_list_t* list = rd_kafka_group_result_partitions(groups[0]);
    for (int i = 0; i < list->cnt; ++i) {
        const rd_kafka_topic_partition_t& each = list->elems[i];
        if (each.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
            x_committed = runtime::unavailable(rd_kafka_err2str(each.err));
            return;
        }
        found.push_back(
            {{x_installed->topic_of_name(each.topic), each.partition}, each.offset, metadata_of(each)});
    }
    x_committed = std::move(found);
}

void membership::commit(const std::vector<committed_offset>& all) {
    const partition_list list(rd_kafka_topic_partition_list_new(static_cast<int>(all.size())));
    for (const committed_offset& each : all) {
        rd_kafka_topic_partition_t* added = rd_kafka_topic_partition_list_add(
            list.get(), x_installed->name_of_topic(each.where.topic).c_str(), each.where.partition);
        added->offset = each.next_offset;
        set_metadata(*added, each.metadata);
    }
    const rd_kafka_resp_err_t code =
        rd_kafka_commit_queue(x_client, list.get(), x_answers.get(), nullptr, nullptr);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
        ++x_commits_in_flight;
    else
        log_failure("kafka_commit_failed", x_group, rd_kafka_err2str(code));
}

// ---- reading
// ----------------------------------------------------------------------------------------------------

void membership::begin(const std::vector<committed_offset>& from) {
    const partition_list list(rd_kafka_topic_partition_list_new(static_cast<int>(from.size())));
    for (const committed_offset& each : from)
        rd_kafka_topic_partition_list_add(list.get(), x_installed->name_of_topic(each.where.topic).c_str(),
                                          each.where.partition)
            ->offset = each.next_offset;
    const rd_kafka_resp_err_t code = rd_kafka_assign(x_client, list.get());
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        log_failure("kafka_assign_failed", x_group, rd_kafka_err2str(code));
    rd_kafka_resume_partitions(x_client, list.get());  // librdkafka remembers a pause across assignments
}

void membership::let_go() { rd_kafka_assign(x_client, nullptr); }

void membership::pause(const topic_partition& where) {
    rd_kafka_pause_partitions(x_client, list_of_all({where}).get());
}

void membership::resume(const topic_partition& where) {
    rd_kafka_resume_partitions(x_client, list_of_all({where}).get());
}

bool membership::has_more() const { return rd_kafka_queue_length(x_records.get()) > 0; }

void membership::close(std::int64_t wait_ms) {
    x_is_closing = true;
    bell::unhang(x_records.get());
    bell::unhang(x_answers.get());
    x_records.reset();
    x_answers.reset();
    x_installed->closing.run(
        [mine = shared_from_this()]() mutable {
            rd_kafka_consumer_close(mine->x_client);
            mine.reset();
        },
        wait_ms);
}

}  // namespace herald::events::kafka
