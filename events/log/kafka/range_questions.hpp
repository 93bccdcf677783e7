// Asks leaders for the first and next offset of a partition without blocking who asks. Internal to
// events/log/kafka.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "events/log/kafka/client.hpp"

namespace herald::events::log::kafka {

/// Owned by the log and by what it opened. Thread-safe. Its threads ask the blocking questions of librdkafka,
/// each for a short while; a question that had no answer then waits behind those that come new, and at
/// most half of several threads are with such, so that partitions without a leader do not hold up the others.
/// A question is answered by a request that was sent after it arrived; those that wait for the same partition
/// share one.
class range_questions {
  public:
    range_questions(std::shared_ptr<installation>, client_pointer, int threads);
    /// Every question is answered (unavailable) before it returns.
    ~range_questions();
    range_questions(const range_questions&) = delete;
    range_questions& operator=(const range_questions&) = delete;

    /// log::query_range.
    void ask(const topic_partition&, range_handler);

  private:
    struct state;
    std::shared_ptr<state> x_state;
};

/// One question at a time and its answer, for those who look for answers when they are polled. Belongs to one
/// thread; may be destroyed while the question is open.
class leader_question {
  public:
    /// `when_answered` is called on a thread of the log.
    void ask(range_questions&, const topic_partition&, std::function<void()> when_answered);
    bool is_open() const noexcept { return x_answer != nullptr; }
    /// The answer, once.
    std::optional<result<offset_range>> take();

  private:
    struct answer;
    std::shared_ptr<answer> x_answer;
};

}  // namespace herald::events::log::kafka
