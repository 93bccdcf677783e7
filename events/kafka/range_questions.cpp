// Threads that ask, and the rule who shares an answer with whom.
#include "events/kafka/range_questions.hpp"

#include <chrono>
#include <deque>
#include <set>
#include <thread>
#include <utility>

namespace herald::events::kafka {
namespace {

constexpr int threads = 4;
constexpr std::int64_t answer_ms_max = 5'000;
constexpr std::int64_t pause_ms = 50;
/// A topic that was just made may be unknown to one of the brokers for a moment.
constexpr std::int64_t missing_ms_min = 1'000;

/// What waits for one request. Emptied by whoever answers.
struct question {
    topic_partition where;
    std::int64_t deadline_ms = 0;
    std::vector<range_handler> handlers;
};

/// True when a broker says that there is no such partition; false also when none says anything.
bool is_missing(rd_kafka_t* client, const installation& installed, const topic_partition& where,
                std::int64_t wait_ms) {
    const topic_pointer topic(
        rd_kafka_topic_new(client, installed.name_of_topic(where.topic).c_str(), nullptr));
    const rd_kafka_metadata_t* found = nullptr;
    if (rd_kafka_metadata(client, 0, topic.get(), &found, static_cast<int>(wait_ms)) !=
        RD_KAFKA_RESP_ERR_NO_ERROR)
        return false;
    const metadata_pointer owner(found);
    if (found->topic_cnt != 1) return false;
    const rd_kafka_metadata_topic_t& answer = found->topics[0];
    if (answer.err != RD_KAFKA_RESP_ERR_NO_ERROR) return says_unknown(answer.err);
    return where.partition < 0 || where.partition >= answer.partition_cnt;
}

result<offset_range> ask_leader(rd_kafka_t* client, const installation& installed, const question& open) {
    std::int64_t missing_since_ms = 0;
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR__TIMED_OUT;
    for (std::int64_t left_ms; (left_ms = open.deadline_ms - now_ms()) > 0;) {
        offset_range range;
        const partition_list list = list_of(installed, open.where, RD_KAFKA_OFFSET_BEGINNING);
        code = ask_leaders(client, *list, RD_KAFKA_OFFSET_BEGINNING, left_ms);
        range.first = list->elems[0].offset;
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
            code = ask_leaders(client, *list, RD_KAFKA_OFFSET_END, left_ms);
        range.next = list->elems[0].offset;
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return range;
        left_ms = std::max<std::int64_t>(open.deadline_ms - now_ms(), 1);
        if (!is_missing(client, installed, open.where, left_ms))
            missing_since_ms = 0;
        else if (missing_since_ms == 0)
            missing_since_ms = now_ms();
        else if (now_ms() - missing_since_ms >= missing_ms_min)
            return runtime::failed_precondition("there is no " + text_of(open.where) + " in Kafka");
        std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    }
    return runtime::unavailable("the leader of " + text_of(open.where) +
                                " did not answer: " + rd_kafka_err2str(code));
}

}  // namespace

struct range_questions::state {
    std::shared_ptr<installation> installed;
    client_pointer client;

    std::mutex mutex;
    std::condition_variable changed;
    bool stopping = false;
    std::deque<std::shared_ptr<question>> waiting;  // not sent yet: more may join
    std::set<std::shared_ptr<question>> sent;
    std::set<std::thread::id> answering;  // inside a handler

    void run() {
        std::unique_lock lock(mutex);
        while (true) {
            changed.wait(lock, [&] { return stopping || !waiting.empty(); });
            if (stopping) return;
            const std::shared_ptr<question> mine = *sent.insert(waiting.front()).first;
            waiting.pop_front();
            lock.unlock();
            const result<offset_range> found = ask_leader(client.get(), *installed, *mine);
            lock.lock();
            sent.erase(mine);
            const std::vector<range_handler> handlers = std::exchange(mine->handlers, {});
            answering.insert(std::this_thread::get_id());
            lock.unlock();
            for (const range_handler& handler : handlers) handler(found);
            lock.lock();
            answering.erase(std::this_thread::get_id());
            changed.notify_all();
        }
    }
};

range_questions::range_questions(std::shared_ptr<installation> installed, client_pointer client)
    : x_state(std::make_shared<state>()) {
    x_state->installed = std::move(installed);
    x_state->client = std::move(client);
    // They own the state and are not waited for here: one may be inside a question for 5 s.
    for (int i = 0; i < threads; ++i) x_state->installed->tasks.run([shared = x_state] { shared->run(); }, 0);
}

range_questions::~range_questions() {
    std::vector<range_handler> unanswered;
    std::unique_lock lock(x_state->mutex);
    x_state->stopping = true;
    x_state->changed.notify_all();
    const auto take = [&](question& open) {
        for (range_handler& handler : open.handlers) unanswered.push_back(std::move(handler));
        open.handlers.clear();
    };
    for (const auto& open : x_state->waiting) take(*open);
    for (const auto& open : x_state->sent) take(*open);
    x_state->waiting.clear();
    x_state->answering.erase(
        std::this_thread::get_id());  // destroyed by a handler: it cannot wait for itself
    x_state->changed.wait(lock, [&] { return x_state->answering.empty(); });
    lock.unlock();
    for (const range_handler& handler : unanswered) handler(runtime::unavailable("the log is being closed"));
}

void range_questions::ask(const topic_partition& where, range_handler handler) {
    std::lock_guard lock(x_state->mutex);
    for (const auto& open : x_state->waiting) {
        if (open->where != where) continue;
        open->handlers.push_back(std::move(handler));
        return;
    }
    auto open = std::make_shared<question>();
    open->where = where;
    open->deadline_ms = now_ms() + answer_ms_max;
    open->handlers.push_back(std::move(handler));
    x_state->waiting.push_back(std::move(open));
    x_state->changed.notify_one();
}

struct leader_question::answer {
    std::mutex mutex;
    std::optional<result<offset_range>> found;
};

void leader_question::ask(range_questions& questions, const topic_partition& where,
                          std::function<void()> when_answered) {
    x_answer = std::make_shared<answer>();
    questions.ask(where,
                  [to = x_answer, when_answered = std::move(when_answered)](result<offset_range> found) {
                      {
                          std::lock_guard lock(to->mutex);
                          to->found = std::move(found);
                      }
                      if (when_answered) when_answered();
                  });
}

std::optional<result<offset_range>> leader_question::take() {
    if (x_answer == nullptr) return std::nullopt;
    std::unique_lock lock(x_answer->mutex);
    std::optional<result<offset_range>> found = std::exchange(x_answer->found, std::nullopt);
    lock.unlock();
    if (found) x_answer.reset();
    return found;
}

}  // namespace herald::events::kafka
