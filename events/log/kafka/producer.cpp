// A librdkafka producer that is replaced when it breaks (a strict one ends instead), its unacknowledged
// records, and the thread that receives their outcomes.
#include "events/log/kafka/producer.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <list>
#include <map>
#include <thread>
#include <utility>

#include "events/log/kafka/limits.hpp"
#include "events/log/limits.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "runtime/mutex.hpp"

namespace herald::events::log::kafka {
namespace {

constexpr int turn_ms = 100;

/// One append. Owns the bytes that librdkafka sends, so it lives until its report arrives or its client is
/// closed.
struct unacknowledged {
    std::list<unacknowledged>::iterator self;
    std::string key;
    std::optional<std::string> value;
    append_handler handler;
    std::int64_t since_ms = 0;

    std::size_t bytes() const noexcept { return key.size() + (value ? value->size() : 0); }
};

/// One client and the records given to it; closed together, in this order: queue, topics, client, records.
struct line {
    std::shared_ptr<installation> installed;
    std::list<unacknowledged> records;  // oldest first
    rd_kafka_t* client = nullptr;
    std::map<std::string, topic_pointer, std::less<>> topics;
    queue_pointer reports;

    ~line() {
        reports.reset();
        topics.clear();
        if (client != nullptr) rd_kafka_destroy(client);
    }
};

struct answer {
    append_handler handler;
    result<std::int64_t> outcome;
};

/// Shared by the producer and its thread. Members guarded by the lock are marked; handlers run without it.
class outbound {
  public:
    outbound(std::shared_ptr<installation> installed, producer_kind kind)
        : x_installed(std::move(installed)), x_kind(kind), x_line(open_line()) {}

    result<void> append(const topic_partition& where, std::string key, std::optional<std::string> value,
                        append_handler handler) {
        const runtime::lock_guard lock(x_mutex);
        if (x_is_stopping || x_has_ended) return runtime::aborted("this producer has ended");
        if (x_line == nullptr) return runtime::aborted("the Kafka client cannot be made");
        const std::size_t bytes = key.size() + (value ? value->size() : 0);
        if (x_records == limits::producer_records_unacknowledged_max ||
            x_bytes + bytes > limits::producer_bytes_unacknowledged_max)
            return too_many();
        unacknowledged& added = x_line->records.emplace_back();
        added.self = std::prev(x_line->records.end());
        added.key = std::move(key);
        added.value = std::move(value);
        added.handler = std::move(handler);
        added.since_ms = now_ms();
        ++x_records;
        x_bytes += bytes;
        const rd_kafka_resp_err_t code = hand_over(where, added);
        if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
            forget(added);
            return too_many();
        }
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR) refuse(where, added, code);
        return {};
    }

    /// The thread's body: runs until stop(), or until a strict producer's first error.
    void run() {
        while (!x_is_stopping && !x_has_ended) {
            rd_kafka_queue_t* const reports = reports_of_line();
            bool broken = reports == nullptr;
            if (broken)
                std::this_thread::sleep_for(std::chrono::milliseconds(turn_ms));
            else
                broken = settle(event_pointer(rd_kafka_queue_poll(reports, turn_ms)));
            if (broken || is_silent()) break_off();
            answer_all();
        }
        finish();
    }

    void stop() {
        const runtime::lock_guard lock(x_mutex);
        x_is_stopping = true;
        wake();
    }

    /// The thread's last act, also when a handler (which runs on the thread) destroys the producer.
    void finish() {
        break_off();
        answer_all();
    }

  private:
    std::shared_ptr<line> open_line() const {
        client_wishes wishes;
        wishes.events = RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR;
        const bool strict = x_kind == producer_kind::strict;
        const result<rd_kafka_t*> client = open_raw_client(
            *x_installed, strict ? client_kind::strict_producer : client_kind::producer, wishes);
        if (!client) {
            runtime::log(runtime::log_level::error, runtime::log_events::kafka_producer_failed,
                         {{"reason", client.error().message}});
            return nullptr;
        }
        auto opened = std::make_shared<line>();
        opened->installed = x_installed;
        opened->client = *client;
        opened->reports.reset(rd_kafka_queue_get_main(*client));
        return opened;
    }

    static error too_many() {
        return runtime::resource_exhausted("too many records wait for Kafka's acknowledgement");
    }

    // ---- giving; with the lock held
    // ----------------------------------------------------------------------------

    rd_kafka_resp_err_t hand_over(const topic_partition& where, unacknowledged& record) REQUIRES(x_mutex) {
        if (record.bytes() > limits::record_bytes_max) return RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE;
        topic_pointer& topic = x_line->topics[where.topic];
        if (topic == nullptr)
            topic.reset(
                rd_kafka_topic_new(x_line->client, x_installed->name_of_topic(where.topic).c_str(), nullptr));
        if (topic == nullptr) return rd_kafka_last_error();
        // librdkafka takes the bytes as non-const but does not write to them: neither MSG_F_FREE nor
        // MSG_F_COPY is set.
        void* bytes = record.value ? record.value->data() : nullptr;
        const std::size_t length = record.value ? record.value->size() : 0;
        const int failed = rd_kafka_produce(topic.get(), where.partition, 0, bytes, length, record.key.data(),
                                            record.key.size(), &record);
        return failed == 0 ? RD_KAFKA_RESP_ERR_NO_ERROR : rd_kafka_last_error();
    }

    /// librdkafka did not take it: the thread answers it, like every record.
    void refuse(const topic_partition& where, unacknowledged& record, rd_kafka_resp_err_t code)
        REQUIRES(x_mutex) {
        x_refused.push_back({std::move(record.handler), outcome_of(code, where, true)});
        forget(record);
        wake();
    }

    void forget(const unacknowledged& record) REQUIRES(x_mutex) {
        --x_records;
        x_bytes -= record.bytes();
        x_line->records.erase(record.self);
    }

    void wake() REQUIRES(x_mutex) {
        if (x_line != nullptr) rd_kafka_queue_yield(x_line->reports.get());
    }

    /// `never_sent`: the record is certainly not in the log.
    result<std::int64_t> outcome_of(rd_kafka_resp_err_t code, const topic_partition& where, bool never_sent)
        REQUIRES(x_mutex) {
        // librdkafka remembers a missing topic for minutes; a new handle makes it ask again.
        if (says_unknown(code)) x_line->topics.erase(where.topic);
        const std::string text = text_of(where) + ": " + rd_kafka_err2str(code);
        if (!never_sent) return runtime::unavailable(text);
        if (says_unknown(code)) return runtime::failed_precondition(text);
        const bool too_large =
            code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE || code == RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE;
        return too_large ? runtime::invalid_argument(text) : runtime::aborted(text);
    }

    // ---- hearing; on the thread
    // --------------------------------------------------------------------------------

    /// Turns the event's reports into answers. True when the client is no longer usable.
    bool settle(const event_pointer& event) {
        const runtime::lock_guard lock(x_mutex);
        const std::size_t answered = x_answers.size();
        for (answer& each : std::exchange(x_refused, {})) x_answers.push_back(std::move(each));
        if (event != nullptr && rd_kafka_event_type(event.get()) == RD_KAFKA_EVENT_DR)
            while (const rd_kafka_message_t* message = rd_kafka_event_message_next(event.get()))
                settle(*message);
        const bool broken = event != nullptr && is_fatal();
        if (x_kind == producer_kind::ordinary) return broken;
        return broken ||
               std::any_of(x_answers.begin() + static_cast<std::ptrdiff_t>(answered), x_answers.end(),
                           [](const answer& each) { return each.outcome.has_error(); });
    }

    void settle(const rd_kafka_message_t& message) REQUIRES(x_mutex) {
        unacknowledged& record = *static_cast<unacknowledged*>(message._private);
        // A repeat that the broker already had (DUPLICATE_SEQUENCE) is a success without an offset.
        result<std::int64_t> outcome = std::max<std::int64_t>(message.offset, -1);
        if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
            const std::string topic = x_installed->topic_of_name(rd_kafka_topic_name(message.rkt));
            const bool never_sent = rd_kafka_message_status(&message) == RD_KAFKA_MSG_STATUS_NOT_PERSISTED;
            outcome = outcome_of(message.err, {topic, message.partition}, never_sent);
        }
        x_answers.push_back({std::move(record.handler), std::move(outcome)});
        forget(record);
    }

    bool is_fatal() const REQUIRES(x_mutex) {
        char reason[512];
        if (rd_kafka_fatal_error(x_line->client, reason, sizeof reason) == RD_KAFKA_RESP_ERR_NO_ERROR)
            return false;
        runtime::log(runtime::log_level::warning, runtime::log_events::kafka_producer_broken,
                     {{"reason", reason}});
        return true;
    }

    /// Only this thread replaces the line, so it may wait on its queue without the lock.
    rd_kafka_queue_t* reports_of_line() {
        const runtime::lock_guard lock(x_mutex);
        return x_line == nullptr ? nullptr : x_line->reports.get();
    }

    bool is_silent() {
        const runtime::lock_guard lock(x_mutex);
        if (x_kind == producer_kind::strict || x_line == nullptr || x_line->records.empty()) return false;
        return now_ms() - x_line->records.front().since_ms > limits::kafka_producer_silent_ms_max;
    }

    /// Drops the client. The outcome of everything it still holds is unknown.
    void break_off() {
        std::shared_ptr<line> old;
        {
            const runtime::lock_guard lock(x_mutex);
            for (answer& each : std::exchange(x_refused, {})) x_answers.push_back(std::move(each));
            old = std::exchange(x_line, nullptr);
            x_records = 0;
            x_bytes = 0;
            x_has_ended = x_is_stopping || x_kind == producer_kind::strict;
            if (!x_has_ended) x_line = open_line();
        }
        if (old == nullptr) return;
        // Nothing more of it is sent; what is already in flight may still arrive.
        rd_kafka_purge(old->client, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_NON_BLOCKING);
        const error unknown = runtime::unavailable("the Kafka producer ended before the acknowledgement");
        for (unacknowledged& record : old->records) x_answers.push_back({std::move(record.handler), unknown});
        x_installed->tasks.run([closed = std::move(old)]() mutable { closed.reset(); }, 0);
    }

    void answer_all() {
        while (!x_answers.empty()) {
            answer next = std::move(x_answers.front());
            x_answers.pop_front();
            next.handler(std::move(next.outcome));
        }
    }

    const std::shared_ptr<installation> x_installed;
    const producer_kind x_kind;

    runtime::mutex x_mutex;
    std::atomic<bool> x_is_stopping = false;
    std::atomic<bool> x_has_ended = false;
    std::shared_ptr<line> x_line GUARDED_BY(x_mutex);  // null: none could be made, or it has ended
    std::size_t x_records GUARDED_BY(x_mutex) = 0;
    std::size_t x_bytes GUARDED_BY(x_mutex) = 0;
    std::vector<answer> x_refused GUARDED_BY(x_mutex);

    std::deque<answer> x_answers;  // only for the thread
};

class kafka_producer final : public producer {
  public:
    kafka_producer(std::shared_ptr<installation> installed, producer_kind kind)
        : x_outbound(std::make_shared<outbound>(std::move(installed), kind)),
          x_thread([shared = x_outbound] { shared->run(); }) {}

    ~kafka_producer() override {
        x_outbound->stop();
        if (x_thread.get_id() == std::this_thread::get_id()) {  // destroyed by a handler
            x_outbound->finish();
            x_thread.detach();
        } else {
            x_thread.join();
        }
    }

    result<void> append(const topic_partition& where, std::string key, std::optional<std::string> value,
                        append_handler handler) override {
        return x_outbound->append(where, std::move(key), std::move(value), std::move(handler));
    }

  private:
    const std::shared_ptr<outbound> x_outbound;
    std::thread x_thread;
};

}  // namespace

std::unique_ptr<producer> make_producer(std::shared_ptr<installation> installed, producer_kind kind) {
    return std::make_unique<kafka_producer>(std::move(installed), kind);
}

}  // namespace herald::events::log::kafka
