// The threads that ask; the rule for which questions share an answer; and the rule that keeps a partition
// without a leader from delaying the others.
#include "events/log/kafka/range_questions.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <list>
#include <set>
#include <thread>
#include <utility>

#include "events/log/kafka/limits.hpp"
#include "runtime/mutex.hpp"

namespace herald::events::log::kafka {
namespace {

constexpr std::int64_t next_try_ms_step = 500;
constexpr std::int64_t pause_ms = 50;
/// For this long after a question without an answer, the brokers are first asked which one leads.
constexpr std::int64_t look_first_ms = 60'000;

/// The questions that wait for one request. The function that answers them empties it.
struct question {
    topic_partition where;
    std::int64_t deadline_ms = 0;
    std::vector<range_handler> handlers;
    int tries = 0;
    std::int64_t again_ms = 0;
    std::int64_t missing_since_ms = 0;
    rd_kafka_resp_err_t trouble = RD_KAFKA_RESP_ERR__TIMED_OUT;  // of the last attempt

    /// The answer when none came in time.
    error silence(const installation& installed) const {
        if (trouble == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE)
            return runtime::unavailable({text_of(where), " has no leader in Kafka"});
        return runtime::unavailable(
            {"the leader of ", text_of(where), " did not answer; ", installed.no_answer(trouble).message});
    }
};

enum class presence : std::uint8_t { led, without_leader, missing, unknown };

/// What the brokers report about the partition; they know at once, even when its leader does not answer.
presence presence_of(rd_kafka_t* client, const installation& installed, const topic_partition& where,
                     std::int64_t wait_ms) {
    const topic_pointer topic(
        rd_kafka_topic_new(client, installed.name_of_topic(where.topic).c_str(), nullptr));
    const rd_kafka_metadata_t* found = nullptr;
    if (rd_kafka_metadata(client, 0, topic.get(), &found, static_cast<int>(wait_ms)) !=
        RD_KAFKA_RESP_ERR_NO_ERROR)
        return presence::unknown;
    const metadata_pointer owner(found);
    if (found->topic_cnt != 1) return presence::unknown;
    const rd_kafka_metadata_topic_t& answer = found->topics[0];
    if (answer.err != RD_KAFKA_RESP_ERR_NO_ERROR)
        return says_unknown(answer.err) ? presence::missing : presence::unknown;
    for (int i = 0; i < answer.partition_cnt; ++i)
        if (answer.partitions[i].id == where.partition)
            return answer.partitions[i].leader < 0 ? presence::without_leader : presence::led;
    return presence::missing;
}

/// Empty: not known yet, and worth asking again.
std::optional<result<offset_range>> ask_leader(rd_kafka_t* client, const installation& installed,
                                               question& open, bool looks_first) {
    const bool is_first = open.tries == 0;
    const std::int64_t most_ms = is_first
                                     ? limits::kafka_first_try_ms_max
                                     : std::min(open.tries * next_try_ms_step, limits::kafka_next_try_ms_max);
    const auto wait_ms = [&] { return std::clamp<std::int64_t>(open.deadline_ms - now_ms(), 1, most_ms); };
    ++open.tries;
    // Without this check, a partition without a leader would hold the thread for all of that time.
    const presence seen =
        is_first && !looks_first ? presence::unknown : presence_of(client, installed, open.where, wait_ms());
    if (seen != presence::missing) open.missing_since_ms = 0;
    if (seen == presence::missing) {
        if (open.missing_since_ms == 0) open.missing_since_ms = now_ms();
        if (now_ms() - open.missing_since_ms >= limits::kafka_topic_missing_ms_min)
            return runtime::failed_precondition({"there is no ", text_of(open.where), " in Kafka"});
    } else if (seen == presence::without_leader) {
        open.trouble = RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
    } else {
        offset_range range;
        const partition_list list = list_of(installed, open.where, RD_KAFKA_OFFSET_BEGINNING);
        open.trouble = ask_leaders(client, *list, RD_KAFKA_OFFSET_BEGINNING, wait_ms());
        range.first = list->elems[0].offset;
        if (open.trouble == RD_KAFKA_RESP_ERR_NO_ERROR)
            open.trouble = ask_leaders(client, *list, RD_KAFKA_OFFSET_END, wait_ms());
        range.next = list->elems[0].offset;
        if (open.trouble == RD_KAFKA_RESP_ERR_NO_ERROR) return range;
    }
    if (now_ms() < open.deadline_ms) return std::nullopt;
    return open.silence(installed);
}

}  // namespace

struct range_questions::state {
    std::shared_ptr<installation> installed;
    client_pointer client;
    int late_at_once_max = 1;

    runtime::mutex mutex;
    runtime::condition_variable changed;
    bool stopping GUARDED_BY(mutex) = false;
    std::deque<std::shared_ptr<question>> fresh GUARDED_BY(mutex);  // not sent yet: more may join
    std::list<std::shared_ptr<question>> late GUARDED_BY(mutex);    // asked without success; likewise
    int late_under_way GUARDED_BY(mutex) = 0;
    std::int64_t look_first_until_ms GUARDED_BY(mutex) = 0;
    std::set<std::shared_ptr<question>> sent GUARDED_BY(mutex);
    std::set<std::thread::id> answering GUARDED_BY(mutex);  // inside a handler

    /// The next question to ask. Those asked without success never occupy all threads. Null: stop.
    std::shared_ptr<question> next() REQUIRES(mutex) {
        while (!stopping) {
            std::shared_ptr<question> chosen;
            std::int64_t wait_ms = give_up_overdue();
            if (stopping) break;  // set while a handler ran
            if (!fresh.empty()) {
                chosen = std::move(fresh.front());
                fresh.pop_front();
            } else if (late_under_way < late_at_once_max && !late.empty()) {
                const auto first = std::min_element(late.begin(), late.end(), [](auto& one, auto& other) {
                    return one->again_ms < other->again_ms;
                });
                const std::int64_t until_again_ms = (*first)->again_ms - now_ms();
                wait_ms = std::min(wait_ms, until_again_ms);
                if (until_again_ms <= 0) {
                    chosen = std::move(*first);
                    late.erase(first);
                    ++late_under_way;
                }
            }
            if (chosen != nullptr) return *sent.insert(std::move(chosen)).first;
            changed.wait_for(mutex, std::chrono::milliseconds(wait_ms));
        }
        return nullptr;
    }

    /// Answers the late questions whose time is up, since their turn may come only after those before them.
    /// Returns the time until the next one is due.
    std::int64_t give_up_overdue() REQUIRES(mutex) {
        for (;;) {
            const auto first = std::min_element(late.begin(), late.end(), [](auto& one, auto& other) {
                return one->deadline_ms < other->deadline_ms;
            });
            const std::int64_t left_ms =
                first == late.end() ? limits::kafka_answer_ms_max : (*first)->deadline_ms - now_ms();
            if (left_ms > 0) return left_ms;
            const std::shared_ptr<question> overdue = *first;
            late.erase(first);
            answer(*overdue, overdue->silence(*installed));
        }
    }

    void run() {
        const runtime::lock_guard lock(mutex);
        while (const std::shared_ptr<question> mine = next()) {
            const bool is_late = mine->tries > 0;
            const bool looks_first = now_ms() < look_first_until_ms;
            std::optional<result<offset_range>> found;
            {
                const runtime::unlock_guard unlocked(mutex);
                found = ask_leader(client.get(), *installed, *mine, looks_first);
            }
            if (!found) look_first_until_ms = now_ms() + look_first_ms;
            sent.erase(mine);
            if (is_late) --late_under_way;
            if (!found && !stopping) {
                mine->again_ms = now_ms() + pause_ms;
                late.push_back(mine);
            } else if (found) {
                answer(*mine, *found);
            }
            changed.notify_all();
        }
    }

    void answer(question& open, const result<offset_range>& found) REQUIRES(mutex) {
        const std::vector<range_handler> handlers = std::exchange(open.handlers, {});
        answering.insert(std::this_thread::get_id());
        {
            const runtime::unlock_guard unlocked(mutex);
            for (const range_handler& handler : handlers) handler(found);
        }
        answering.erase(std::this_thread::get_id());
    }
};

range_questions::range_questions(std::shared_ptr<installation> installed, client_pointer client, int threads)
    : x_state(std::make_shared<state>()) {
    x_state->installed = std::move(installed);
    x_state->client = std::move(client);
    x_state->late_at_once_max = std::max(1, threads / 2);
    // The threads own the state and are not awaited here: one may be inside a question for a second.
    for (int i = 0; i < threads; ++i) x_state->installed->tasks.run([shared = x_state] { shared->run(); }, 0);
}

range_questions::~range_questions() {
    std::vector<range_handler> unanswered;
    const auto take = [&](question& open) {
        for (range_handler& handler : open.handlers) unanswered.push_back(std::move(handler));
        open.handlers.clear();
    };
    {
        const runtime::lock_guard lock(x_state->mutex);
        x_state->stopping = true;
        x_state->changed.notify_all();
        for (const auto& open : x_state->fresh) take(*open);
        for (const auto& open : x_state->late) take(*open);
        for (const auto& open : x_state->sent) take(*open);
        x_state->fresh.clear();
        x_state->late.clear();
        x_state->answering.erase(
            std::this_thread::get_id());  // destroyed by a handler: it cannot wait for itself
        x_state->changed.wait(x_state->mutex,
                              [this]() REQUIRES(x_state->mutex) { return x_state->answering.empty(); });
    }
    for (const range_handler& handler : unanswered) handler(runtime::unavailable("the log is being closed"));
}

void range_questions::ask(const topic_partition& where, range_handler handler) {
    const runtime::lock_guard lock(x_state->mutex);
    const auto join = [&](const auto& waiting) {
        for (const auto& open : waiting) {
            if (open->where != where) continue;
            open->handlers.push_back(std::move(handler));
            return true;
        }
        return false;
    };
    if (join(x_state->fresh) || join(x_state->late)) return;
    auto open = std::make_shared<question>();
    open->where = where;
    open->deadline_ms = now_ms() + limits::kafka_answer_ms_max;
    open->handlers.push_back(std::move(handler));
    x_state->fresh.push_back(std::move(open));
    x_state->changed.notify_one();
}

struct leader_question::answer {
    runtime::mutex mutex;
    std::optional<result<offset_range>> found GUARDED_BY(mutex);
};

void leader_question::ask(range_questions& questions, const topic_partition& where,
                          std::function<void()> when_answered) {
    x_answer = std::make_shared<answer>();
    questions.ask(where,
                  [to = x_answer, when_answered = std::move(when_answered)](result<offset_range> found) {
                      {
                          const runtime::lock_guard lock(to->mutex);
                          to->found = std::move(found);
                      }
                      if (when_answered) when_answered();
                  });
}

std::optional<result<offset_range>> leader_question::take() {
    if (x_answer == nullptr) return std::nullopt;
    std::optional<result<offset_range>> found;
    {
        const runtime::lock_guard lock(x_answer->mutex);
        found = std::exchange(x_answer->found, std::nullopt);
    }
    if (found) x_answer.reset();
    return found;
}

}  // namespace herald::events::log::kafka
