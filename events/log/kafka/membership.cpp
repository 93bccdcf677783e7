// librdkafka's side of a group member: rebalance callback, committed offsets, commits, pauses, leaving.
#include "events/log/kafka/membership.hpp"

#include <cstring>
#include <utility>

#include "events/log/kafka/limits.hpp"
#include "runtime/crypto.hpp"
#include "runtime/mutex.hpp"

namespace herald::events::log::kafka {
namespace {

/// Committed metadata is stored as base64: librdkafka loses everything after a NUL byte (#4876).
std::string metadata_of(const rd_kafka_topic_partition_t& partition) {
    if (partition.metadata == nullptr) return {};
    const std::string_view text(static_cast<const char*>(partition.metadata), partition.metadata_size);
    const result<std::string> metadata = runtime::from_base64(text);
    return metadata ? *metadata : std::string();  // not ours: committed by some tool
}

void set_metadata(rd_kafka_topic_partition_t& partition, const std::string& metadata) {
    if (metadata.empty()) return;
    const std::string text = runtime::to_base64(metadata);
    partition.metadata = rd_kafka_mem_malloc(nullptr, text.size());  // the list frees it
    std::memcpy(partition.metadata, text.data(), text.size());
    partition.metadata_size = text.size();
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
    wishes.owner = &joined->x_owner;
    wishes.on_rebalance = on_rebalance;
    const result<rd_kafka_t*> client = open_raw_client(*joined->x_installed, client_kind::member, wishes);
    if (!client) return client.error();
    joined->x_client = *client;
    rd_kafka_poll_set_consumer(*client);
    joined->x_records.reset(rd_kafka_queue_get_consumer(*client));
    joined->x_answers.reset(rd_kafka_queue_new(*client));
    ring_for(joined->x_records.get(), *joined->x_bell);
    ring_for(joined->x_answers.get(), *joined->x_bell);
    const partition_list names(rd_kafka_topic_partition_list_new(static_cast<int>(topics.size())));
    for (const std::string& topic : topics)
        rd_kafka_topic_partition_list_add(names.get(), joined->x_installed->name_of_topic(topic).c_str(),
                                          RD_KAFKA_PARTITION_UA);
    const rd_kafka_resp_err_t code = rd_kafka_subscribe(*client, names.get());
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return joined;
    joined->close(0);
    return runtime::internal({"cannot join ", group, ": ", rd_kafka_err2str(code)});
}

membership::~membership() {
    if (x_client != nullptr) rd_kafka_destroy(x_client);  // in the background, see close()
}

void membership::on_rebalance(rd_kafka_t* client, rd_kafka_resp_err_t code,
                              rd_kafka_topic_partition_list_t* list, void* owner) {
    membership& mine = *static_cast<client_owner*>(owner)->member;
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
            mine.x_installed->members.fails(std::string("rebalance: ") + rd_kafka_err2str(code),
                                            mine.x_group);
        mine.x_change = taken_back{rd_kafka_assignment_lost(client) != 0};
    }
    rd_kafka_yield(client);  // ends the wait in next()
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

struct membership::committed_answer {
    runtime::mutex mutex;
    std::optional<result<std::vector<committed_offset>>> found GUARDED_BY(mutex);
};

// In the background, since it waits. (The admin interface would not wait, but it crashes: #5040, #4605.)
void membership::ask_committed(const std::vector<topic_partition>& partitions) {
    x_committed = std::make_shared<committed_answer>();
    x_installed->tasks.run(
        [mine = shared_from_this(), to = x_committed, partitions, rung = x_bell] {
            result<std::vector<committed_offset>> found = mine->wait_for_committed(partitions);
            {
                const runtime::lock_guard lock(to->mutex);
                to->found = std::move(found);
            }
            rung->ring();
        },
        0);
}

result<std::vector<committed_offset>> membership::wait_for_committed(
    const std::vector<topic_partition>& partitions) const {
    const partition_list list = list_of_all(partitions);
    const rd_kafka_resp_err_t code = rd_kafka_committed(x_client, list.get(), limits::kafka_committed_ms_max);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return runtime::unavailable(rd_kafka_err2str(code));
    std::vector<committed_offset> found;
    for (int i = 0; i < list->cnt; ++i) {
        const rd_kafka_topic_partition_t& each = list->elems[i];
        if (each.err != RD_KAFKA_RESP_ERR_NO_ERROR) return runtime::unavailable(rd_kafka_err2str(each.err));
        found.push_back(
            {{x_installed->topic_of_name(each.topic), each.partition}, each.offset, metadata_of(each)});
    }
    return found;
}

std::optional<result<std::vector<committed_offset>>> membership::take_committed() {
    if (x_committed == nullptr) return std::nullopt;
    std::optional<result<std::vector<committed_offset>>> found;
    {
        const runtime::lock_guard lock(x_committed->mutex);
        found = std::exchange(x_committed->found, std::nullopt);
    }
    if (found) x_committed.reset();
    return found;
}

bool membership::has_commit_in_flight() {
    while (const event_pointer event{rd_kafka_queue_poll(x_answers.get(), 0)}) {
        if (rd_kafka_event_type(event.get()) != RD_KAFKA_EVENT_OFFSET_COMMIT) continue;
        --x_commits_in_flight;
        if (rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR)
            x_installed->members.fails(std::string("commit: ") + rd_kafka_event_error_string(event.get()),
                                       x_group);
        else
            x_installed->members.works(x_group);
    }
    return x_commits_in_flight > 0;
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
        x_installed->members.fails(std::string("commit: ") + rd_kafka_err2str(code), x_group);
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
        x_installed->members.fails(std::string("assignment: ") + rd_kafka_err2str(code), x_group);
    for (const committed_offset& each : from) resume(each.where);
}

void membership::let_go() { rd_kafka_assign(x_client, nullptr); }

void membership::pause(const topic_partition& where) {
    x_paused.insert(where);
    rd_kafka_pause_partitions(x_client, list_of_all({where}).get());
}

// If nothing is paused, librdkafka would read again what it has delivered (#4636).
void membership::resume(const topic_partition& where) {
    if (x_paused.erase(where) == 0) return;
    rd_kafka_resume_partitions(x_client, list_of_all({where}).get());
}

bool membership::is_replaced() const {
    char text[256];
    return rd_kafka_fatal_error(x_client, text, sizeof text) == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID;
}

bool membership::has_more() const { return rd_kafka_queue_length(x_records.get()) > 0; }

void membership::close(std::int64_t wait_ms) {
    x_is_closing = true;
    ring_no_more(x_records.get());
    ring_no_more(x_answers.get());
    x_records.reset();
    x_answers.reset();
    x_installed->tasks.run(
        [mine = shared_from_this()]() mutable {
            rd_kafka_consumer_close(mine->x_client);
            mine.reset();
        },
        wait_ms);
}

}  // namespace herald::events::log::kafka
