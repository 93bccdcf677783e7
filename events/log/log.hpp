// The one narrow interface to the log. Only the implementations know which it is: Kafka (events/log/kafka),
// embedded (storage/embedded_log), in memory with faults (events/log/memory). One suite of tests runs against
// all three.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runtime/error.hpp"

namespace herald::events::log {

/// `topic` is the name without the installation's prefix ("registry.commands").
struct topic_partition {
    std::string topic;
    std::int32_t partition = 0;

    friend auto operator<=>(const topic_partition&, const topic_partition&) = default;
};

/// One record. `value` is absent for a tombstone. Offsets of a partition ascend; a compacted one has holes.
struct record {
    std::int64_t offset = 0;
    std::int64_t time_ms = 0;  // the log's clock at the append (LogAppendTime)
    std::string key;
    std::optional<std::string> value;
};
inline std::size_t bytes_of(const record& what) {
    return what.key.size() + (what.value ? what.value->size() : 0);
}

/// Gets the offset of the record (−1 where the log knows only that it is there), or an error:
///   invalid_argument     the record is too large; it is not in the log, and never will be
///   failed_precondition  the topic does not exist; it is not in the log
///   aborted              nothing was sent: it is not in the log and will not be; the same may succeed later
///   unavailable          the outcome is unknown: it may or may not be in the log, now or later
/// Called exactly once, on a thread of the log; must not block; may append again.
using append_handler = std::function<void(result<std::int64_t>)>;

/// Appends. Thread-safe. Records of one partition land in the order of the calls, unless an error comes
/// between.
class producer {
  public:
    /// Waits for nothing: what is unacknowledged gets `unavailable` before the destructor returns.
    virtual ~producer() = default;
    /// An error (then the handler is not called) says that nothing was sent: resource_exhausted when too much
    /// is unacknowledged, aborted when this producer has ended or the log takes nothing now.
    virtual result<void> append(const topic_partition&, std::string key, std::optional<std::string> value,
                                append_handler) = 0;
};

enum class producer_kind : std::uint8_t {
    /// Gives up on a record after 10 s (aborted when it was never sent, else unavailable). A broken inner
    /// client is replaced by itself.
    ordinary,
    /// For the publisher: one batch at a time, nothing expires, nothing is replaced. The first error ends it,
    /// and every later append is refused (design.md §2).
    strict,
};

/// What a reader found. `at_end`: there was nothing more at the moment of the call.
struct read_batch {
    std::vector<record> records;
    bool at_end = false;
};

/// Reads one partition from an offset on, outside any group. Belongs to one thread.
class reader {
  public:
    virtual ~reader() = default;
    /// Up to `records_max` records, waiting at most `wait_ms` for the first. Errors:
    ///   failed_precondition  the offset is not between the log's start and its end, or the topic is gone;
    ///                        final: open another reader
    ///   unavailable          the log is out of reach, or was for a moment, and may no longer hold what was
    ///                        read before; poll again
    virtual result<read_batch> poll(std::size_t records_max, std::int64_t wait_ms) = 0;
    /// `notify` is called, on any thread, when poll() may have something; set once, before the first poll.
    virtual void on_ready(std::function<void()> notify) = 0;
};

/// A group's member got a partition. `next_offset` is what was committed last, with its metadata. A new
/// `epoch` for every assignment: results of an older one must not be committed.
struct assigned {
    topic_partition where;
    std::int64_t next_offset = 0;
    std::string metadata;
    std::uint64_t epoch = 0;
};
/// The partition goes to another member. Commits of it made before the next poll() still count.
struct revoked {
    topic_partition where;
    std::uint64_t epoch = 0;
};
struct consumed {
    topic_partition where;
    std::uint64_t epoch = 0;
    record what;
};
/// The member cannot go on: an offset out of range, a topic gone. Names what is missing. Final.
struct member_failure {
    error reason;
};
using member_event = std::variant<assigned, revoked, consumed, member_failure>;

/// A member of a consumer group. All calls on one thread. Pausing holds until resume() or the next
/// assignment.
class group_member {
  public:
    /// Leaves the group; bounded in time.
    virtual ~group_member() = default;
    /// Ends with the record by which keys and values reach limits::member_poll_bytes_max, too.
    virtual std::vector<member_event> poll(std::size_t events_max, std::int64_t wait_ms) = 0;
    virtual void on_ready(std::function<void()> notify) = 0;
    virtual void pause(const topic_partition&) = 0;
    virtual void resume(const topic_partition&) = 0;
    /// Records that the group goes on at `next_offset`. `metadata` ≤ 1 KiB of printable text. Fire and
    /// forget: a commit that is lost only means repeats. `epoch` is the assignment's; an older one is
    /// ignored.
    virtual void commit(const topic_partition&, std::uint64_t epoch, std::int64_t next_offset,
                        std::string metadata) = 0;
};

/// First and next offset of a partition, as its leader knows them.
struct offset_range {
    std::int64_t first = 0;
    std::int64_t next = 0;
};
using range_handler = std::function<void(result<offset_range>)>;

/// Owned by the composition of a process, which has one. Thread-safe. What it opens belongs to whoever opened
/// it, on one thread where nothing else is said, and may outlive it. Blocks only where a function says so.
/// Handlers are called on threads of the log and must not block.
class partitioned_log {
  public:
    virtual ~partitioned_log() = default;
    virtual std::unique_ptr<producer> open_producer(producer_kind) = 0;
    /// Why appends are refused now (unavailable), as far as the log knows by itself; a log elsewhere that
    /// falls silent is told by its silence alone. Any thread; cheap.
    virtual result<void> takes_appends() const { return {}; }
    /// What time it is by the log, where it is this machine's own: then commands are stamped by it, so that a
    /// wrong wall clock cannot hold time back. Nothing for a log elsewhere. Any thread.
    virtual std::optional<std::int64_t> time_ms() const { return std::nullopt; }
    /// Never fails: what is wrong is said by the first poll().
    virtual std::unique_ptr<reader> open_reader(const topic_partition&, std::int64_t from_offset) = 0;
    /// Joins `group`; a group that never committed a partition is an error event (the topic creator commits
    /// the first offsets, see create_topics).
    virtual std::unique_ptr<group_member> join(const std::string& group,
                                               const std::vector<std::string>& topics) = 0;
    /// Asks the leader, asynchronously; one question serves nobody but its asker. The handler is called once,
    /// on a thread of the log, or by the log's destructor: what it posts to must outlive the log. Errors:
    /// unavailable within 6 s; failed_precondition when there is no such topic.
    virtual void query_range(const topic_partition&, range_handler) = 0;
    /// Number of partitions of a topic; not_found when it does not exist. Blocks up to 5 s.
    virtual result<std::int32_t> partitions(const std::string& topic) = 0;
    /// Creates the topics of topics.hpp that are missing and commits offset 0 for the groups that read them.
    /// Blocks up to 60 s. Existing topics are left as they are.
    virtual result<void> create_topics() = 0;
};

}  // namespace herald::events::log
