// The only interface to the log. Which log it is, only the implementations know: Kafka (events/log/kafka),
// embedded (storage/embedded_log), or in memory with faults (tests/log/memory). One test suite runs against
// all three.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
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

/// One record. A tombstone has no `value`. Offsets within a partition ascend; a compacted partition has
/// holes.
struct record {
    std::int64_t offset = 0;
    std::int64_t time_ms = 0;  // the log's clock at the append (LogAppendTime)
    std::string key;
    std::optional<std::string> value;
};
inline std::size_t bytes_of(const record& what) {
    return what.key.size() + (what.value ? what.value->size() : 0);
}

/// Receives the record's offset (−1 when the log knows only that the record is there), or an error:
///   invalid_argument     the record is too large; it is not in the log and never will be
///   failed_precondition  the topic does not exist; the record is not in the log
///   aborted              nothing was sent: the record is not in the log and will not be; a retry may succeed
///   unavailable          the outcome is unknown: the record may or may not be in the log, now or later
/// Called exactly once, on a thread of the log; must not block; may append again.
using append_handler = std::function<void(result<std::int64_t>)>;

/// Appends records. Thread-safe. Records of one partition are stored in the order of the calls, unless an
/// error intervenes.
class producer {
  public:
    /// Does not wait: unacknowledged records get `unavailable` before the destructor returns.
    virtual ~producer() = default;
    /// On an error nothing was sent and the handler is not called: resource_exhausted when too much is
    /// unacknowledged, aborted when this producer has ended or the log takes no appends now.
    virtual result<void> append(const topic_partition&, std::string key, std::optional<std::string> value,
                                append_handler) = 0;
};

enum class producer_kind : std::uint8_t {
    /// Gives up on a record after 10 s (aborted when it was never sent, otherwise unavailable). Replaces a
    /// broken inner client by itself.
    ordinary,
    /// For the publisher: one batch at a time, no expiry, no replacement. The first error ends it, and every
    /// later append is refused (design.md §2).
    strict,
};

/// What a reader found. `at_end`: there was nothing more when it was called.
struct read_batch {
    std::vector<record> records;
    bool at_end = false;
};

/// Reads one partition from an offset on, outside any group. Owned by one thread.
class reader {
  public:
    virtual ~reader() = default;
    /// Returns up to `records_max` records, waiting at most `wait_ms` for the first. Errors:
    ///   failed_precondition  the offset is not between the log's start and its end, or the topic is gone;
    ///                        final: open another reader
    ///   unavailable          the log is (or briefly was) out of reach, and may have lost what was read
    ///   before;
    ///                        poll again
    virtual result<read_batch> poll(std::size_t records_max, std::int64_t wait_ms) = 0;
    /// `notify` is called, on any thread, when poll() may find something. Set once, before the first poll.
    virtual void on_ready(std::function<void()> notify) = 0;
};

/// A group's member received a partition. `next_offset` is the last one committed, with its metadata. Every
/// assignment has a new `epoch`: results of an older one must not be committed.
struct assigned {
    topic_partition where;
    std::int64_t next_offset = 0;
    std::string metadata;
    std::uint64_t epoch = 0;
};
/// The group wants the partition back, and waits: no further record of it comes. It stays this member's, and
/// commits for it count, until release(). Without that for limits::recall_ms_max, `revoked` follows.
struct recalled {
    topic_partition where;
    std::uint64_t epoch = 0;
};
/// The partition is another member's now, or will be. Commits for it made before the next poll() still count,
/// unless the group has long given it away.
struct revoked {
    topic_partition where;
    std::uint64_t epoch = 0;
};
struct consumed {
    topic_partition where;
    std::uint64_t epoch = 0;
    record what;
};
/// The member cannot continue: an offset out of range, or a topic gone. Names what is missing. Final.
struct member_failure {
    error reason;
};
using member_event = std::variant<assigned, recalled, revoked, consumed, member_failure>;

/// A member of a consumer group. All calls come from one thread. A pause lasts until resume() or the next
/// assignment.
class group_member {
  public:
    /// Leaves the group, in bounded time.
    virtual ~group_member() = default;
    /// Also stops after the record with which keys and values reach limits::member_poll_bytes_max.
    virtual std::vector<member_event> poll(std::size_t events_max, std::int64_t wait_ms) = 0;
    virtual void on_ready(std::function<void()> notify) = 0;
    virtual void pause(const topic_partition&) = 0;
    virtual void resume(const topic_partition&) = 0;
    /// Records that the group resumes at `next_offset`. `metadata` is at most 1 KiB of printable text. Fire
    /// and forget: a lost commit only causes repeats. `epoch` is the assignment's; a commit with an older one
    /// is ignored.
    virtual void commit(const topic_partition&, std::uint64_t epoch, std::int64_t next_offset,
                        std::string metadata) = 0;
    /// Lets a recalled partition go, after the commits made before; no further event comes for it. Does
    /// nothing when it was not recalled, or under another epoch.
    virtual void release(const topic_partition&, std::uint64_t epoch) = 0;
};

/// First and next offset of a partition, as reported by its leader.
struct offset_range {
    std::int64_t first = 0;
    std::int64_t next = 0;
};
using range_handler = std::function<void(result<offset_range>)>;
/// The next offsets of partitions.
using partition_ends = std::map<topic_partition, std::int64_t>;
using ends_handler = std::function<void(partition_ends)>;

/// The one log of a process, owned by the process's composition. Thread-safe. What it opens belongs to the
/// caller, is used on one thread unless stated otherwise, and may outlive the log. Blocks only where a
/// function says so. Handlers run on threads of the log and must not block.
class partitioned_log {
  public:
    virtual ~partitioned_log() = default;
    virtual std::unique_ptr<producer> open_producer(producer_kind) = 0;
    /// Why appends are refused now (unavailable), as far as the log itself knows; a remote log that falls
    /// silent shows only by its silence. Any thread; cheap.
    virtual result<void> takes_appends() const { return {}; }
    /// The log's time, where the log uses this machine's clock: commands are then stamped with it, so that a
    /// wrong wall clock cannot hold time back. Empty for a remote log. Any thread.
    virtual std::optional<std::int64_t> time_ms() const { return std::nullopt; }
    /// Never fails: the first poll() reports any problem.
    virtual std::unique_ptr<reader> open_reader(const topic_partition&, std::int64_t from_offset) = 0;
    /// Joins `group`. A group that never committed a partition gets an error event (create_topics() commits
    /// the first offsets).
    virtual std::unique_ptr<group_member> join(const std::string& group,
                                               const std::vector<std::string>& topics) = 0;
    /// Asks the leader, asynchronously; each question gets its own answer. The handler is called once, on a
    /// thread of the log or by the log's destructor, so whatever it posts to must outlive the log. Errors:
    /// unavailable within 6 s; failed_precondition when there is no such topic.
    virtual void query_range(const topic_partition&, range_handler) = 0;
    /// The same for the ends of many partitions at once, which costs the brokers little more than one. Those
    /// without an answer within 6 s are missing from what the handler gets.
    virtual void query_ends(const std::vector<topic_partition>&, ends_handler);
    /// Number of partitions of a topic; not_found when it does not exist. Blocks up to 5 s.
    virtual result<std::int32_t> partitions(const std::string& topic) = 0;
    /// Where the group that reads the topic (topics.hpp) goes on, for each of its partitions; 0 where it
    /// never committed. Blocks up to 30 s. Errors: not_found when there is no such topic, or no group reads
    /// it; unavailable.
    virtual result<std::vector<std::int64_t>> committed(const std::string& topic) = 0;
    /// Creates the topics of topics.hpp that are missing and commits offset 0 for the groups that read them.
    /// Blocks up to 60 s. Existing topics are left as they are.
    virtual result<void> create_topics() = 0;
};

}  // namespace herald::events::log
