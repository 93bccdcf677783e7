// One partition, read through a client that other readers may share. librdkafka clients can fall silent for
// ever (kafka.md §2), so a reader that receives nothing asks the partition's leader, and takes a new client
// when the leader has more.
#include "events/log/kafka/reader.hpp"

#include <algorithm>
#include <utility>

#include "events/log/kafka/limits.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"

namespace herald::events::log::kafka {
namespace {

/// What is open for one partition; the client must be destroyed last.
struct reading {
    client_pointer client;
    topic_pointer topic;
    queue_pointer queue;
    message_pointer early;  // came over a new connection, which must be reported first
};

class kafka_reader final : public reader {
  public:
    kafka_reader(std::shared_ptr<installation> installed, std::shared_ptr<reader_clients> clients,
                 std::shared_ptr<range_questions> questions, topic_partition where, std::int64_t from_offset)
        : x_installed(std::move(installed)),
          x_clients(std::move(clients)),
          x_questions(std::move(questions)),
          x_where(std::move(where)),
          x_next(from_offset) {}

    ~kafka_reader() override {
        x_bell->silence();
        close();
    }

    void on_ready(std::function<void()> notify) override { x_bell->call(std::move(notify)); }

    result<read_batch> poll(std::size_t records_max, std::int64_t wait_ms) override {
        x_bell->reset();
        if (x_reading == nullptr && !x_failure) open();
        const std::int64_t deadline_ms = now_ms() + wait_ms;
        read_batch batch;
        while (!x_failure && !x_trouble && batch.records.size() < records_max) {
            const std::int64_t left_ms = batch.records.empty() ? deadline_ms - now_ms() : 0;
            const auto slice_ms =
                static_cast<int>(std::clamp<std::int64_t>(left_ms, 0, limits::kafka_poll_slice_ms_max));
            message_pointer message(x_reading->early != nullptr
                                        ? x_reading->early.release()
                                        : rd_kafka_consume_queue(x_reading->queue.get(), slice_ms));
            if (is_reconnected(message.get())) {
                say_reconnected();
                x_reading->early = std::move(message);
                break;
            }
            if (message != nullptr && take(*message, batch)) break;
            if (message != nullptr) continue;
            if (!batch.records.empty()) break;
            supervise();
            if (now_ms() >= deadline_ms) break;
        }
        if (batch.records.empty() && x_failure) return *x_failure;
        // The queue rings only when it was empty: what stays in it would never be announced.
        const bool has_more = x_reading != nullptr && (x_reading->early != nullptr ||
                                                       rd_kafka_queue_length(x_reading->queue.get()) > 0);
        if (has_more || (x_trouble && !batch.records.empty())) x_bell->ring_again();
        if (batch.records.empty() && x_trouble) return *std::exchange(x_trouble, std::nullopt);
        if (!has_more && !x_at_end && x_has_heard) x_at_end = is_fetched_to_the_end();
        batch.at_end = x_at_end;
        return batch;
    }

  private:
    void open() {
        const result<client_pointer> client = x_clients->take(x_where);
        if (!client) {
            x_trouble = runtime::unavailable(client.error().message);
            return;
        }
        x_reading = std::make_shared<reading>();
        x_reading->client = *client;
        x_reading->topic.reset(
            rd_kafka_topic_new(client->get(), x_installed->name_of_topic(x_where.topic).c_str(), nullptr));
        x_reading->queue.reset(rd_kafka_queue_new(client->get()));
        ring_for(x_reading->queue.get(), *x_bell);
        x_progress_ms = now_ms();
        x_owed_since_ms.reset();
        x_is_suspect = false;
        x_has_heard = false;
        ask();  // librdkafka is slow to say that there is no such partition
        if (rd_kafka_consume_start_queue(x_reading->topic.get(), x_where.partition, x_next,
                                         x_reading->queue.get()) != 0)
            x_failure = runtime::failed_precondition(
                {text_of(x_where), ": ", rd_kafka_err2str(rd_kafka_last_error())});
    }

    /// librdkafka blocks its caller until it has stopped reading a partition.
    void close() {
        if (x_reading == nullptr) return;
        ring_no_more(x_reading->queue.get());
        x_installed->tasks.run(
            [closed = std::exchange(x_reading, nullptr), clients = x_clients, where = x_where]() mutable {
                rd_kafka_consume_stop(closed->topic.get(), where.partition);
                const client_pointer client = closed->client;
                closed.reset();
                clients->give_back(where, client);
            },
            0);
    }

    /// librdkafka reconnects silently, and what then arrives may come from another log. Each message is newer
    /// than the connection that it came over. `message` may be null.
    bool is_reconnected(const rd_kafka_message_t* message) {
        const auto& owner = *static_cast<client_owner*>(rd_kafka_opaque(x_reading->client.get()));
        const std::uint32_t connections = owner.connections;
        const bool is_record = message != nullptr && message->err == RD_KAFKA_RESP_ERR_NO_ERROR;
        const std::int32_t broker = is_record ? rd_kafka_message_broker_id(message) : x_broker.value_or(-1);
        const bool is_changed =
            x_connections && (connections != *x_connections || (x_broker && broker != *x_broker));
        // Until the first message, connections count as the initial ones.
        if (message != nullptr || is_changed) x_connections = connections;
        if (is_record) x_broker = broker;
        return is_changed;
    }

    void say_reconnected() {
        x_trouble = runtime::unavailable({text_of(x_where), " was out of reach for a moment"});
    }

    /// True when the message says that there is nothing more.
    bool take(const rd_kafka_message_t& message, read_batch& batch) {
        if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            progress(message.offset + 1, false);
            batch.records.push_back(record_of(message));
            return false;
        }
        if (message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            progress(std::max(x_next, message.offset), true);  // a compacted record will not come any more
            return true;
        }
        const std::string text = rd_kafka_message_errstr(&message);
        if (message.err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET) {
            x_failure = runtime::failed_precondition(
                {"offset ", x_next, " of ", text_of(x_where), " is not in the log: ", text});
        } else if (says_unknown(message.err)) {
            x_is_suspect = true;  // the topic is gone, or the broker has only just started
            ask();
        } else {
            x_trouble = runtime::unavailable({text_of(x_where), ": ", text});
        }
        return false;
    }

    void progress(std::int64_t next, bool at_end) {
        x_next = next;
        x_at_end = at_end;
        x_has_heard = true;
        x_progress_ms = now_ms();
        x_owed_since_ms.reset();
    }

    /// Judged by the end mark of the last fetch. The next fetch would say the same, but only after its long
    /// poll.
    bool is_fetched_to_the_end() const {
        std::int64_t first = -1;
        std::int64_t next = -1;
        rd_kafka_get_watermark_offsets(x_reading->client.get(), rd_kafka_topic_name(x_reading->topic.get()),
                                       x_where.partition, &first, &next);
        return next == x_next;
    }

    void ask() {
        if (!x_question.is_open()) x_question.ask(*x_questions, x_where, [ready = x_bell] { ready->ring(); });
    }

    /// Nothing came. Is there nothing, is the client broken, or is the log out of reach?
    void supervise() {
        if (const auto answer = x_question.take()) judge(*answer);
        if (x_failure) return;
        if (x_owed_since_ms && now_ms() - *x_owed_since_ms > limits::kafka_overdue_ms_max)
            reopen();
        else if (!x_owed_since_ms && now_ms() - x_progress_ms > limits::kafka_reader_silent_ms_max)
            ask();
    }

    void judge(const result<offset_range>& answer) {
        x_progress_ms = now_ms();
        if (!answer && answer.error().code == error_code::failed_precondition)
            x_failure = answer.error();
        else if (!answer)
            x_trouble = answer.error();
        else if (x_is_suspect)
            reopen();
        else if (answer->next > x_next)
            x_owed_since_ms = now_ms();
    }

    void reopen() {
        runtime::log(runtime::log_level::warning, runtime::log_events::kafka_reader_replaced,
                     {{"partition", text_of(x_where)}, {"offset", x_next}});
        if (x_reading != nullptr) x_clients->distrust(x_reading->client);
        close();
        open();
        if (x_connections) say_reconnected();
        x_connections.reset();
        x_broker.reset();
    }

    const std::shared_ptr<installation> x_installed;
    const std::shared_ptr<reader_clients> x_clients;
    const std::shared_ptr<range_questions> x_questions;
    const topic_partition x_where;
    const std::shared_ptr<bell> x_bell = std::make_shared<bell>();
    std::int64_t x_next;       // the next expected offset
    bool x_at_end = false;     // the last report said that the log had nothing at x_next
    bool x_has_heard = false;  // since open(): the client may still have what an earlier reader received

    std::optional<error> x_failure;  // final
    std::optional<error> x_trouble;  // reported once
    leader_question x_question;
    bool x_is_suspect = false;                    // the client says that there is no such partition
    std::optional<std::int64_t> x_owed_since_ms;  // the leader has a record that did not arrive
    std::int64_t x_progress_ms = 0;
    std::optional<std::uint32_t> x_connections;  // of the client, as far as they were reported
    std::optional<std::int32_t> x_broker;        // that the newest record came from

    std::shared_ptr<reading> x_reading;
};

}  // namespace

std::unique_ptr<reader> make_reader(std::shared_ptr<installation> installed,
                                    std::shared_ptr<reader_clients> clients,
                                    std::shared_ptr<range_questions> questions, const topic_partition& where,
                                    std::int64_t from_offset) {
    return std::make_unique<kafka_reader>(std::move(installed), std::move(clients), std::move(questions),
                                          where, from_offset);
}

}  // namespace herald::events::log::kafka
