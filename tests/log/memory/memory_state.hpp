// What memory_broker.cpp and memory_log.cpp share. Internal to the log in memory.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "events/log/topics.hpp"
#include "runtime/mutex.hpp"
#include "tests/log/memory/memory_broker.hpp"
#include "tests/log/memory/memory_log.hpp"

namespace herald::events::log::memory {

/// Calls one reader or member when there may be something to read; at most once between two polls.
struct memory_bell {
    explicit memory_bell(memory_log::post_function how) : post(std::move(how)) {}

    const memory_log::post_function post;
    std::function<void()> notify;
    bool rung = false;

    /// Held while `notify` runs, so that silence() waits for it. The call may destroy the bell's owner.
    runtime::recursive_mutex calling;
    bool is_silent GUARDED_BY(calling) = false;

    void call() {
        const runtime::lock_guard lock(calling);
        if (!is_silent) notify();
    }
    void silence() {
        const runtime::lock_guard lock(calling);
        is_silent = true;
    }
};

struct memory_partition {
    const topic_settings* settings = nullptr;
    std::int64_t first = 0;
    std::int64_t next = 0;
    std::deque<record> records;  // by offset, with holes where it was compacted
    std::vector<std::weak_ptr<memory_bell>> bells;

    void hang(const std::shared_ptr<memory_bell>&);
    std::deque<record>::const_iterator from(std::int64_t offset) const;
};

/// The owner of a group's partition, while it passes from one member to the next.
struct memory_claim {
    member_id owner = 0;       // 0: nobody
    std::uint64_t epoch = 0;   // the owner's
    member_id next_owner = 0;  // 0: stays
    bool is_recalled = false;  // the owner was sent `recalled`
};

struct memory_commit {
    std::int64_t next_offset = 0;
    std::string metadata;
};

/// The group's side of a member. Events wait here until the member polls.
struct memory_member {
    std::vector<std::string> topics;
    std::shared_ptr<memory_bell> bell;
    std::deque<member_event> mail;
    bool is_expelled = false;
    bool is_dead = false;  // its process died: nobody will poll for it
};

struct memory_group {
    std::map<member_id, memory_member> members;
    std::map<topic_partition, memory_claim> claims;
    std::map<topic_partition, memory_commit> commits;
};

struct memory_append {
    topic_partition where;
    std::string key;
    std::optional<std::string> value;
};

/// An append or a commit that a machine crash may undo.
struct appended_at {
    topic_partition where;
    std::int64_t offset = 0;
};
struct commit_before {
    std::string group;
    topic_partition where;
    std::optional<memory_commit> before;
};
using unsynced_write = std::variant<appended_at, commit_before>;

/// Everything here is guarded by the mutex, which memory_lock holds.
struct memory_state {
    explicit memory_state(const runtime::clock& broker_clock) : clock(broker_clock) {}

    memory_partition* find(const topic_partition&);
    /// Appends to a partition that exists and returns the offset.
    std::int64_t append(const memory_append&);
    void store_commit(const std::string& group, const topic_partition&, memory_commit);
    void ring(memory_partition&);
    void ring(const std::shared_ptr<memory_bell>&);

    /// All partitions of the topics, in order; on a missing topic, empty and that topic's name.
    std::vector<topic_partition> partitions_of(const std::vector<std::string>& wanted, std::string& missing);
    void rebalance(const std::string& group);
    void move(const std::string& group, const topic_partition&, member_id to);
    /// The owner has released the partition, or never will: it passes to its next owner, if there is one.
    void hand_over(const std::string& group, const topic_partition&);
    void expel(const std::string& group, member_id);
    /// Removes every trace of the member.
    void remove(const std::string& group, member_id);

    const runtime::clock& clock;
    runtime::mutex mutex;
    std::map<topic_partition, memory_partition> partitions;
    std::map<std::string, memory_group> groups;
    std::deque<std::vector<memory_append>> held;
    std::vector<unsynced_write> unsynced;
    bool rebalances_by_itself = true;
    member_id last_member = 0;
    std::uint64_t last_epoch = 0;
    /// Posted when the lock is released.
    std::vector<std::pair<memory_log::post_function, std::function<void()>>> outgoing;
};

/// Holds the state's mutex; after releasing it, posts the tasks that were queued.
class HERALD_THREAD_SAFETY(scoped_lockable) memory_lock {
  public:
    explicit memory_lock(std::shared_ptr<memory_state> state)
        HERALD_THREAD_SAFETY(acquire_capability(state->mutex))
        : x_state(std::move(state)) {
        x_state->mutex.lock();
    }
    ~memory_lock() HERALD_THREAD_SAFETY(release_capability()) {
        const auto outgoing = std::exchange(x_state->outgoing, {});
        x_state->mutex.unlock();
        for (const auto& [post, task] : outgoing) post(task);
    }
    memory_lock(const memory_lock&) = delete;
    memory_lock& operator=(const memory_lock&) = delete;

  private:
    const std::shared_ptr<memory_state> x_state;
};

struct memory_log::process {
    std::shared_ptr<memory_state> state;
    post_function post;
    memory_faults* faults;
    bool is_dead = false;  // guarded by the state's lock
};
using process_pointer = std::shared_ptr<memory_log::process>;

std::string text_of(const topic_partition&);
/// Why nothing can be read from `offset` on; empty when it can.
std::optional<error> refusal(const memory_partition*, const topic_partition&, std::int64_t offset);

std::unique_ptr<group_member> make_memory_member(process_pointer, std::string group,
                                                 const std::vector<std::string>& topics);

}  // namespace herald::events::log::memory
