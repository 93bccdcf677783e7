// One client's life in a consumer group: what a group member asks of librdkafka, and what it hears back.
// Internal to events/log/kafka.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "events/log/kafka/client.hpp"

namespace herald::events::log::kafka {

/// Where a group resumes in a partition. `next_offset` is negative if the group never committed there.
struct committed_offset {
    topic_partition where;
    std::int64_t next_offset = -1;
    std::string metadata;
};

/// The group's coordinator gives us these partitions; nothing is read before begin().
struct offered {
    std::vector<topic_partition> partitions;
};
/// The coordinator wants all partitions back, and waits for let_go().
struct taken_back {
    bool is_lost = false;  // it waits no longer: they may be another member's already
};
using group_change = std::variant<offered, taken_back>;

/// Owned and called by one thread; close() may continue in the background. All calls return at once unless
/// they say otherwise.
class membership : public std::enable_shared_from_this<membership> {
  public:
    const std::string& group() const noexcept { return x_group; }  // as Kafka has it
    /// Errors: invalid_argument; internal when no client can be made.
    static result<std::shared_ptr<membership>> join(std::shared_ptr<installation>, const std::string& group,
                                                    const std::vector<std::string>& topics,
                                                    std::shared_ptr<bell>);
    ~membership();

    /// The next record or librdkafka's next error; null when there is none within `wait_ms` or when the group
    /// changed.
    message_pointer next(std::int64_t wait_ms);
    /// What changed in the group since the last call; only the latest counts.
    std::optional<group_change> take_change();

    /// The bell rings when the answer has arrived.
    void ask_committed(const std::vector<topic_partition>&);
    /// The answer to the latest ask_committed(), once.
    std::optional<result<std::vector<committed_offset>>> take_committed();

    /// Starts reading; a pause from before is over. May block for some milliseconds, as pause and resume may.
    void begin(const std::vector<committed_offset>&);
    void let_go();
    void pause(const topic_partition&);
    void resume(const topic_partition&);  // nothing happens to one that is not paused

    /// Sent at once. A failure is logged and forgotten.
    void commit(const std::vector<committed_offset>&);
    bool has_commit_in_flight();
    bool has_more() const;
    /// Another member has joined with its name, for good.
    bool is_replaced() const;

    /// Leaves the group and frees the client; waits at most `wait_ms` for that.
    void close(std::int64_t wait_ms);

  private:
    explicit membership(std::shared_ptr<installation> installed) : x_installed(std::move(installed)) {}
    static void on_rebalance(rd_kafka_t*, rd_kafka_resp_err_t, rd_kafka_topic_partition_list_t*, void* owner);
    partition_list list_of_all(const std::vector<topic_partition>&) const;
    result<std::vector<committed_offset>> wait_for_committed(const std::vector<topic_partition>&) const;

    const std::shared_ptr<installation> x_installed;
    client_owner x_owner{x_installed.get(), this};
    std::string x_group;
    std::shared_ptr<bell> x_bell;
    rd_kafka_t* x_client = nullptr;
    queue_pointer x_records;
    queue_pointer x_answers;  // for commits
    std::optional<group_change> x_change;
    std::set<topic_partition> x_paused;  // librdkafka keeps a pause across assignments
    struct committed_answer;
    std::shared_ptr<committed_answer> x_committed;  // to the latest question
    int x_commits_in_flight = 0;
    bool x_is_closing = false;
};

}  // namespace herald::events::log::kafka
