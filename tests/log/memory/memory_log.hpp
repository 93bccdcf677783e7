// One process's access to the log in memory (memory_broker.hpp), with the faults that occur between the two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "events/log/log.hpp"
#include "tests/log/memory/memory_broker.hpp"

namespace herald::events::log::memory {

/// What happens to a batch, and what its producer is told.
enum class batch_fate : std::uint8_t {
    accepted,        // in the log, acknowledged
    offset_unknown,  // in the log, acknowledged without an offset
    duplicated,      // twice in the log, acknowledged
    answer_lost,     // in the log; unavailable
    rejected,        // not in the log; unavailable
    not_sent,        // not in the log; aborted
    held,            // unavailable, and in the log only when memory_broker::release() says so
    unanswered,      // in the log; nothing is heard before the producer is destroyed
    swallowed,       // not in the log; nothing is heard before the producer is destroyed
};

struct batch_plan {
    batch_fate fate = batch_fate::accepted;
    std::size_t records = SIZE_MAX;  // at most this many of the waiting ones, at least one
};

/// Decides about faults, usually by seed. Each function does nothing unless overridden. Called with the
/// broker locked, so it must not call the broker.
class memory_faults {
  public:
    virtual ~memory_faults() = default;
    /// For the next batch: `waiting` records of one partition that a producer has not sent yet.
    virtual batch_plan next_batch(const topic_partition&, std::size_t waiting) {
        return {batch_fate::accepted, waiting};
    }
    /// Which of a producer's outstanding answers comes next; less than `waiting`.
    virtual std::size_t next_answer(std::size_t waiting) {
        (void)waiting;
        return 0;
    }
    /// How many records a poll returns that asked for `wanted`; at least one.
    virtual std::size_t next_poll(std::size_t wanted) { return wanted; }
    /// By how many records an answer to query_range lags behind the truth (a leader that was deposed).
    virtual std::int64_t range_lag(const topic_partition&) { return 0; }
    /// False: polls find nothing (a reader says unavailable), commits are lost, questions are unavailable.
    virtual bool reachable() { return true; }
};

/// poll() never waits, whatever `wait_ms` says. Answers and notifications come through `post`, each as one
/// task; a process that drops its tasks hears nothing more. Thread-safe as described in events::log; what it
/// opened may outlive it.
class memory_log final : public partitioned_log {
  public:
    using post_function = std::function<void(std::function<void()>)>;

    /// `faults`, if any, must outlive the log and what it opened.
    memory_log(memory_broker&, post_function post, memory_faults* faults = nullptr);
    ~memory_log() override;

    /// The process dies: what it opened does nothing when it is destroyed later. Appends not yet sent are not
    /// sent; members stay in their groups until they are expelled.
    void crash();

    std::unique_ptr<producer> open_producer(producer_kind) override;
    std::unique_ptr<reader> open_reader(const topic_partition&, std::int64_t from_offset) override;
    std::unique_ptr<group_member> join(const std::string& group,
                                       const std::vector<std::string>& topics) override;
    void query_range(const topic_partition&, range_handler) override;
    result<std::int32_t> partitions(const std::string& topic) override;
    result<std::vector<std::int64_t>> committed(const std::string& topic) override;
    result<void> create_topics() override;

    struct process;  // shared by the log and everything it opened

  private:
    std::shared_ptr<process> x_process;
};

}  // namespace herald::events::log::memory
