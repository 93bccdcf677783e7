// Opens and closes librdkafka clients, and turns their log lines into the process's.
#include "events/log/kafka/client.hpp"

#include <sys/socket.h>

#include <chrono>
#include <thread>

#include "events/log/kafka/membership.hpp"
#include "runtime/clock.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "runtime/mutex.hpp"

namespace herald::events::log::kafka {
namespace {

constexpr std::int64_t trouble_kept_ms = 60'000;

using configuration = std::unique_ptr<rd_kafka_conf_t, destroyed_by<rd_kafka_conf_destroy>>;

/// librdkafka uses syslog's levels. It calls a broker out of reach an "error" (3); for us that is a warning:
/// the client keeps trying, and whatever cannot continue reports it in its own words.
void on_log_line(const rd_kafka_t* client, int level, const char* facility, const char* text) {
    // TERMINATE is "N messages still in queue": the code that closes the producer knows that, and the
    // handlers were called. ERROR repeats what FAIL has said for each broker.
    if (std::string_view(facility) == "TERMINATE" || std::string_view(facility) == "ERROR") return;
    const auto* const owner = static_cast<const client_owner*>(rd_kafka_opaque(client));
    if (std::string_view(facility) == "FAIL") {
        // Every client says it of every broker, again and again; the watch says it once.
        installation& where = *owner->installed;
        where.trouble.say(text);
        where.brokers.complained(where.trouble.text());
        level = 7;
    }
    if (std::string_view(facility) == "SESSTMOUT" && owner->member != nullptr)
        return owner->installed->members.fails(text, owner->member->group());
    // Coordinators that are loading, and properties of ours that librdkafka calls experimental.
    if (std::string_view(facility) == "GETPID" || std::string_view(facility) == "CONFWARN") level = 7;
    const runtime::log_level ours = level <= 2   ? runtime::log_level::error
                                    : level <= 4 ? runtime::log_level::warning
                                    : level <= 6 ? runtime::log_level::info
                                                 : runtime::log_level::debug;
    runtime::log(ours, runtime::log_events::kafka_message, {{"facility", facility}, {"message", text}});
}

/// A broker without a port is one that librdkafka has made up, as for a group's coordinator: its connections
/// go to another one.
rd_kafka_resp_err_t on_broker_state(rd_kafka_t* client, std::int32_t, const char*, const char* name, int port,
                                    const char* state, void* where) {
    if (port != 0)
        static_cast<installation*>(where)->brokers.changed(
            client, std::string(name) + ":" + std::to_string(port), state);
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

rd_kafka_resp_err_t on_new_client(rd_kafka_t* client, const rd_kafka_conf_t*, void* where, char*,
                                  std::size_t) {
    return rd_kafka_interceptor_add_on_broker_state_change(client, "herald", on_broker_state, where);
}

int on_connection(int domain, int type, int protocol, void* owner) {
    static_cast<client_owner*>(owner)->connections.fetch_add(1);
    return ::socket(domain, type | SOCK_CLOEXEC, protocol);
}

}  // namespace

struct background::state {
    runtime::mutex mutex;
    runtime::condition_variable changed;
    int running GUARDED_BY(mutex) = 0;
};

std::shared_ptr<background::state> background::make_state() { return std::make_shared<state>(); }

void background::run(std::function<void()> task, std::int64_t wait_ms) {
    struct one {
        bool done = false;
    };
    auto mine = std::make_shared<one>();
    {
        const runtime::lock_guard lock(x_state->mutex);
        ++x_state->running;
    }
    std::thread([room = x_state, mine, task = std::move(task)]() mutable {
        task();
        task = nullptr;  // what the task owns is destroyed before the task counts as done
        const runtime::lock_guard lock(room->mutex);
        --room->running;
        mine->done = true;
        room->changed.notify_all();
    }).detach();
    const runtime::lock_guard lock(x_state->mutex);
    x_state->changed.wait_for(x_state->mutex, std::chrono::milliseconds(wait_ms), [&] { return mine->done; });
}

bool background::wait(std::int64_t wait_ms) {
    const runtime::lock_guard lock(x_state->mutex);
    return x_state->changed.wait_for(x_state->mutex, std::chrono::milliseconds(wait_ms),
                                     [this]() REQUIRES(x_state->mutex) { return x_state->running == 0; });
}

void ring_for(rd_kafka_queue_t* queue, bell& rung) {
    rd_kafka_queue_cb_event_enable(
        queue, [](rd_kafka_t*, void* self) { static_cast<bell*>(self)->ring(); }, &rung);
}

void ring_no_more(rd_kafka_queue_t* queue) { rd_kafka_queue_cb_event_enable(queue, nullptr, nullptr); }

void last_trouble::say(std::string_view text) {
    const std::size_t thread_name = text.starts_with("[thrd:") ? text.find("]: ") : std::string_view::npos;
    const runtime::lock_guard lock(x_mutex);
    x_text = thread_name == std::string_view::npos ? text : text.substr(thread_name + 3);
    x_at_ms = now_ms();
}

std::string last_trouble::text() const {
    const runtime::lock_guard lock(x_mutex);
    return now_ms() - x_at_ms > trouble_kept_ms ? std::string() : x_text;
}

error installation::no_answer(rd_kafka_resp_err_t code) const {
    const std::string why = trouble.text();
    return runtime::unavailable({"Kafka at ", options.bootstrap_servers,
                                 " does not answer: ", (why.empty() ? rd_kafka_err2str(code) : why)});
}

std::string installation::topic_of_name(const char* name) const {
    const std::string_view all(name);
    return std::string(all.starts_with(options.topic_prefix) ? all.substr(options.topic_prefix.size()) : all);
}

result<rd_kafka_t*> open_raw_client(installation& where, client_kind kind, const client_wishes& wishes) {
    configuration conf(rd_kafka_conf_new());
    char text[512];
    properties all = settings_of(kind, where.options);
    all.insert(all.end(), wishes.more.begin(), wishes.more.end());
    for (const auto& [name, value] : all)
        if (rd_kafka_conf_set(conf.get(), name.c_str(), value.c_str(), text, sizeof text) != RD_KAFKA_CONF_OK)
            return runtime::invalid_argument({"Kafka property ", name, ": ", text});
    rd_kafka_conf_set_log_cb(conf.get(), on_log_line);
    rd_kafka_conf_set_socket_cb(conf.get(), on_connection);
    rd_kafka_conf_interceptor_add_on_new(conf.get(), "herald", on_new_client, &where);
    rd_kafka_conf_set_opaque(conf.get(), wishes.owner == nullptr ? &where.owner : wishes.owner);
    if (wishes.events != 0) rd_kafka_conf_set_events(conf.get(), wishes.events);
    if (wishes.on_rebalance != nullptr) rd_kafka_conf_set_rebalance_cb(conf.get(), wishes.on_rebalance);
    const bool produces = kind == client_kind::producer || kind == client_kind::strict_producer;
    rd_kafka_t* client =
        rd_kafka_new(produces ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER, conf.get(), text, sizeof text);
    if (client == nullptr) return runtime::internal({"the Kafka client cannot be made: ", text});
    static_cast<void>(conf.release());  // now owned by the client
    return client;
}

result<client_pointer> open_client(const std::shared_ptr<installation>& where, client_kind kind,
                                   const client_wishes& wishes) {
    const auto own = std::make_shared<client_owner>(where.get());
    client_wishes owned = wishes;
    if (owned.owner == nullptr) owned.owner = own.get();
    const result<rd_kafka_t*> client = open_raw_client(*where, kind, owned);
    if (!client) return client.error();
    return client_pointer(*client, [where, own](rd_kafka_t* closed) {
        where->tasks.run([closed, own, where] { rd_kafka_destroy(closed); }, 0);  // its log lines need both
    });
}

partition_list list_of(const installation& where, const topic_partition& partition, std::int64_t offset) {
    partition_list list(rd_kafka_topic_partition_list_new(1));
    rd_kafka_topic_partition_list_add(list.get(), where.name_of_topic(partition.topic).c_str(),
                                      partition.partition)
        ->offset = offset;
    return list;
}

rd_kafka_resp_err_t ask_leaders(rd_kafka_t* client, rd_kafka_topic_partition_list_t& list, std::int64_t which,
                                std::int64_t wait_ms) {
    // Not rd_kafka_query_watermark_offsets: without a broker, in 2.0.2 it waits for ever, whatever its
    // timeout.
    for (int i = 0; i < list.cnt; ++i) {
        list.elems[i].offset = which;
        list.elems[i].err = RD_KAFKA_RESP_ERR_NO_ERROR;
    }
    const rd_kafka_resp_err_t code = rd_kafka_offsets_for_times(client, &list, static_cast<int>(wait_ms));
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return code;
    for (int i = 0; i < list.cnt; ++i) {
        if (list.elems[i].err != RD_KAFKA_RESP_ERR_NO_ERROR) return list.elems[i].err;
        if (list.elems[i].offset < 0) return RD_KAFKA_RESP_ERR__BAD_MSG;  // not answered
    }
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

partition_ends find_ends(const installation& installed, rd_kafka_t* client,
                         const std::vector<topic_partition>& all, std::int64_t wait_ms) {
    const partition_list list(rd_kafka_topic_partition_list_new(static_cast<int>(all.size())));
    for (const topic_partition& where : all)
        rd_kafka_topic_partition_list_add(list.get(), installed.name_of_topic(where.topic).c_str(),
                                          where.partition);
    ask_leaders(client, *list, RD_KAFKA_OFFSET_END, wait_ms);
    partition_ends found;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const rd_kafka_topic_partition_t& answer = list->elems[i];
        if (answer.err == RD_KAFKA_RESP_ERR_NO_ERROR && answer.offset >= 0)
            found.emplace(all[i], answer.offset);
    }
    return found;
}

record record_of(const rd_kafka_message_t& message) {
    record result;
    result.offset = message.offset;
    result.time_ms = rd_kafka_message_timestamp(&message, nullptr);
    if (message.key != nullptr) result.key.assign(static_cast<const char*>(message.key), message.key_len);
    if (message.payload != nullptr)
        result.value.emplace(static_cast<const char*>(message.payload), message.len);
    return result;
}

std::string text_of(const topic_partition& where) {
    return where.topic + "[" + std::to_string(where.partition) + "]";
}

bool says_unknown(rd_kafka_resp_err_t code) noexcept {
    return code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || code == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
           code == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION;
}

std::int64_t now_ms() noexcept { return runtime::system_clock().steady_ms(); }

}  // namespace herald::events::log::kafka
