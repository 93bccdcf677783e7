// Asks leaders for the first and next offset of a partition without blocking the caller. Internal to
// events/log/kafka.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "events/log/kafka/client.hpp"

namespace herald::events::log::kafka {

/// Owned by the log and by everything it opened. Thread-safe. Its threads ask librdkafka's blocking
/// questions, each for a short while. A question without an answer then queues behind newer ones, and such
/// questions hold at most half of the threads (where there are several), so that partitions without a leader
/// do not delay the others. The request that answers a question is always sent after the question arrived;
/// questions about the same partition share a request.
class range_questions {
  public:
    range_questions(std::shared_ptr<installation>, client_pointer, int threads);
    /// Every open question is answered (unavailable) before the destructor returns.
    ~range_questions();
    range_questions(const range_questions&) = delete;
    range_questions& operator=(const range_questions&) = delete;

    /// As log::query_range.
    void ask(const topic_partition&, range_handler);

  private:
    struct state;
    std::shared_ptr<state> x_state;
};

/// One question at a time and its answer, for owners that look for the answer when they are polled. Owned by
/// one thread; may be destroyed while the question is open.
class leader_question {
  public:
    /// `when_answered` is called on a thread of the log.
    void ask(range_questions&, const topic_partition&, std::function<void()> when_answered);
    bool is_open() const noexcept { return x_answer != nullptr; }
    /// The answer; it can be taken once.
    std::optional<result<offset_range>> take();

  private:
    struct answer;
    std::shared_ptr<answer> x_answer;
};

}  // namespace herald::events::log::kafka
