// The embedded log on disk: what it keeps, and in which form. Internal to the embedded log.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "events/log/log.hpp"
#include "runtime/mutex.hpp"

namespace rocksdb {
class DB;
class Status;
}  // namespace rocksdb

namespace herald::storage::embedded_log {

struct stored_commit {
    std::int64_t next_offset = 0;
    std::string metadata;
};
/// A group and a partition.
using commit_key = std::pair<std::string, events::log::topic_partition>;

/// The result of open(): for each partition only its first and next offset (0 and 0 when it is empty).
struct log_contents {
    std::map<std::string, std::int32_t> topics;  // with their numbers of partitions
    std::map<events::log::topic_partition, events::log::offset_range> partitions;
    std::map<commit_key, stored_commit> commits;
    std::optional<std::int64_t> newest_ms;  // log time of the newest record
    std::int64_t expire_from_ms = 0;        // log time before which nothing expires
};

/// One write: all of it or nothing.
struct log_write {
    struct placed_record {
        const events::log::topic_partition* where;
        const events::log::record* what;
    };
    std::vector<placed_record> records;
    std::map<commit_key, stored_commit> commits;
    std::map<std::string, std::int32_t> topics;
    bool synced = false;
};

/// Rows; numbers are big-endian; the byte after the time says whether there is a value:
///
///     "r" topic 00 partition:4 offset:8        time_ms:8, 00 | 01, key bytes:4, key, value
///     "t" topic                                partitions:4
///     "c" group 00 topic 00 partition:4        next offset:8, metadata
///     "e"                                      expire from, log time: 8
///
/// Thread-safe; open() excludes all other calls. Errors of each call: unavailable when the database is not
/// open or the disk fails; failed_precondition when a row cannot be read back.
class log_database {
  public:
    log_database(std::filesystem::path folder, std::size_t open_files_max);
    ~log_database();
    log_database(const log_database&) = delete;
    log_database& operator=(const log_database&) = delete;

    /// Errors: as make_embedded_log.
    result<log_contents> open();
    /// Closes and opens it again: after an error, nothing can be written before that. If it cannot be opened,
    /// its content can still be read.
    result<log_contents> reopen();
    /// Afterwards everything is on disk, in a form that opens quickly. Never fails: what could not be flushed
    /// is in the write-ahead log.
    void close();

    result<void> write(const log_write&);
    /// Records of [from, below) in order, at most `records_max` and about `bytes_max`.
    result<std::vector<events::log::record>> read(const events::log::topic_partition&, std::int64_t from,
                                                  std::int64_t below, std::size_t records_max,
                                                  std::size_t bytes_max) const;
    /// Where the records of [from, below) stop being older than `before_ms`: the offset of the first that is
    /// not older, or `below`. Looks at no more than `records_max`.
    result<std::int64_t> find_expired(const events::log::topic_partition&, events::log::offset_range,
                                      std::int64_t before_ms, std::size_t records_max) const;
    result<void> erase(const events::log::topic_partition&, events::log::offset_range);
    /// Stores log_contents::expire_from_ms.
    result<void> set_expire_from(std::int64_t log_time_ms);

    struct compaction_ages {
        std::int64_t superseded_before_ms;  // older records go when a later one has their key
        std::int64_t tombstones_before_ms;  // older tombstones go too
    };
    /// Never drops the last record of the range. Returns how many were kept.
    result<std::int64_t> compact(const events::log::topic_partition&, events::log::offset_range,
                                 compaction_ages);

  private:
    result<log_contents> open_to_write() REQUIRES(x_open_mutex);
    result<log_contents> load() const REQUIRES_SHARED(x_open_mutex);
    result<void> load_topic(std::string topic, std::int32_t partitions, log_contents&) const
        REQUIRES_SHARED(x_open_mutex);
    template <class Visitor>
    result<void> visit(const events::log::topic_partition&, events::log::offset_range, Visitor) const;
    error error_of(const rocksdb::Status&) const;
    error closed() const;

    const std::filesystem::path x_folder;
    const std::size_t x_open_files_max;
    mutable runtime::shared_mutex x_open_mutex;                  // held exclusively while opening and closing
    std::unique_ptr<rocksdb::DB> x_db GUARDED_BY(x_open_mutex);  // null: not open
    bool x_is_writable GUARDED_BY(x_open_mutex) = false;
};

}  // namespace herald::storage::embedded_log
