// The embedded log's core: the queue of appends, what readers see, and the thread between the two. Internal
// to the embedded log.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "events/log/bell.hpp"
#include "events/log/log.hpp"
#include "events/log/topics.hpp"
#include "runtime/metrics.hpp"
#include "runtime/mutex.hpp"
#include "storage/embedded_log/embedded_log.hpp"
#include "storage/embedded_log/log_database.hpp"
#include "storage/embedded_log/log_time.hpp"

namespace herald::storage::embedded_log {

/// Guarded by the committer, except `where` and `settings`. Destroyed only after the committer.
struct log_partition {
    explicit log_partition(const events::log::topic_partition& name)
        : where(name), settings(events::log::find_topic(name.topic)) {}

    const events::log::topic_partition where;
    const events::log::topic_settings* const settings;  // null: a topic that this version does not know
    events::log::offset_range range;                    // what readers see: durable if the topic is
    std::deque<std::shared_ptr<const events::log::record>> recent;  // the newest records, without holes
    std::vector<std::weak_ptr<events::log::bell>> bells;
    std::int64_t uncompacted = 0;  // appended since the last compaction
    std::int64_t compacted = 0;    // records that it kept

    bool is_durable() const noexcept { return settings == nullptr || settings->durable; }
    bool is_compacted() const noexcept {
        return settings != nullptr && settings->policy == events::log::cleanup::compact;
    }
};

/// A producer as seen by the committer. Guarded by the committer.
struct producer_account {
    explicit producer_account(events::log::producer_kind what) : kind(what) {}

    const events::log::producer_kind kind;
    bool has_ended = false;
    std::size_t records = 0;  // unacknowledged
    std::size_t bytes = 0;
};
using account_pointer = std::shared_ptr<producer_account>;

/// Shared by the log and everything it opened. Thread-safe. After stop() everything is unavailable.
class log_committer {
  public:
    log_committer(const std::filesystem::path& folder, const embedded_log_options&, const runtime::clock&);
    ~log_committer();
    log_committer(const log_committer&) = delete;
    log_committer& operator=(const log_committer&) = delete;

    /// Opens the database and starts the threads; called once. Errors: as make_embedded_log.
    result<void> start();
    /// Writes the queue, answers everything, closes the database.
    void stop();

    // ---- producers
    /// As events::log.
    result<void> takes_appends() const;
    std::int64_t time_ms() const noexcept { return x_time->now_ms(); }
    result<void> append(const account_pointer&, const events::log::topic_partition&, std::string key,
                        std::optional<std::string> value, events::log::append_handler);
    /// Answers the producer's unacknowledged appends, and waits for its handler if one is running on another
    /// thread.
    void close(const account_pointer&);

    // ---- readers
    /// Null when there is no such partition.
    log_partition* find(const events::log::topic_partition&);
    void hang(log_partition&, const std::shared_ptr<events::log::bell>&);
    /// Does not wait. Errors: as reader::poll.
    result<events::log::read_batch> read(log_partition&, std::int64_t from, std::size_t records_max);
    void query_range(const events::log::topic_partition&, events::log::range_handler);

    // ---- topics
    result<std::int32_t> partitions(const std::string& topic);
    result<void> create_topics();
    /// all: also compacts where there is little to gain.
    enum class maintenance : std::uint8_t { all, worthwhile };
    void maintain(maintenance);

    // ---- groups
    /// As events::log.
    result<std::vector<std::int64_t>> committed_of(const std::string& topic);
    void join(const std::string& group, const std::shared_ptr<events::log::bell>&);
    void leave(const std::string& group, const std::shared_ptr<events::log::bell>&);
    /// Whether the member owns the group: of those still there, it joined first.
    bool owns(const std::string& group, const std::shared_ptr<events::log::bell>&);
    std::uint64_t next_epoch();
    std::optional<stored_commit> committed(const commit_key&);
    void commit(commit_key, stored_commit);

  private:
    using time_point = std::chrono::steady_clock::time_point;

    struct pending_append {
        account_pointer account;
        log_partition* partition = nullptr;
        std::shared_ptr<events::log::record> what;
        std::size_t bytes = 0;
        events::log::append_handler handler;
        result<std::int64_t> outcome = 0;  // an error: must not be written

        /// Ends a strict producer.
        void refuse(error reason);
    };
    struct pending_question {
        log_partition* partition;
        events::log::range_handler handler;
    };

    void run();
    void wait_for_work() REQUIRES(x_mutex);
    void wait_for_company() REQUIRES(x_mutex);
    result<log_contents> open_again() REQUIRES(x_mutex);
    void reopen() REQUIRES(x_mutex);
    void say_broken(const std::string& why) REQUIRES(x_mutex);
    bool adopt(const log_contents&) REQUIRES(x_mutex);
    void take_batch() REQUIRES(x_mutex);
    log_write place_batch() REQUIRES(x_mutex);
    void settle(const result<void>& written, const log_write&) REQUIRES(x_mutex);
    void publish(const pending_append&) REQUIRES(x_mutex);
    void fail_batch(const error&) REQUIRES(x_mutex);
    void answer() REQUIRES(x_mutex);
    std::vector<events::log::append_handler> take_handlers(std::deque<pending_append>& from,
                                                           const account_pointer&);

    // Runs on the maintenance thread (log_maintenance.cpp).
    void run_maintenance();
    /// Raises an alarm while the wall clock is over an hour off.
    void check_clock();
    void expire(log_partition&);
    void compact(log_partition&, maintenance);

    const embedded_log_options x_options;
    const runtime::clock& x_clock;
    std::optional<log_time> x_time;  // set by start(), then constant
    bool x_clock_is_off = false;     // used by start(), then by the maintenance thread
    runtime::gauge& x_wall_ahead = runtime::metric_gauge(runtime::metrics::clock_off);
    log_database x_database;
    std::thread x_thread;
    std::thread x_maintenance_thread;
    runtime::mutex x_creating;          // one create_topics() at a time
    runtime::mutex x_maintaining;       // one maintain() at a time
    std::int64_t x_expire_from_ms = 0;  // log time; set by start()

    mutable runtime::mutex x_mutex;
    runtime::condition_variable x_work;
    runtime::condition_variable x_answered;
    runtime::condition_variable x_maintenance_due;
    bool x_is_stopping GUARDED_BY(x_mutex) = true;                 // until start()
    std::optional<time_point> x_broken_until GUARDED_BY(x_mutex);  // the database is not reopened before this
    std::string x_broken_why GUARDED_BY(x_mutex);
    time_point x_broken_said GUARDED_BY(x_mutex);  // when it was last logged
    std::chrono::milliseconds x_reopen_delay GUARDED_BY(x_mutex){};
    std::map<events::log::topic_partition, log_partition> x_partitions GUARDED_BY(x_mutex);
    std::map<std::string, std::int32_t> x_topics GUARDED_BY(x_mutex);
    std::deque<log_partition*> x_recent_order
        GUARDED_BY(x_mutex);  // the partition of each recent record, oldest first
    std::size_t x_recent_bytes GUARDED_BY(x_mutex) = 0;
    std::map<commit_key, stored_commit> x_commits GUARDED_BY(x_mutex);
    std::set<commit_key> x_unwritten_commits GUARDED_BY(x_mutex);
    time_point x_commits_due GUARDED_BY(x_mutex);
    std::map<std::string, std::deque<std::shared_ptr<events::log::bell>>> x_groups GUARDED_BY(x_mutex);
    std::uint64_t x_last_epoch GUARDED_BY(x_mutex) = 0;

    std::deque<pending_append> x_queue GUARDED_BY(x_mutex);
    std::deque<pending_append> x_batch GUARDED_BY(x_mutex);  // being written now
    std::size_t x_wake_at GUARDED_BY(x_mutex) = 1;           // this many queued appends
    std::size_t x_appenders GUARDED_BY(x_mutex) = 0;         // about how many append at the same time
    std::chrono::steady_clock::duration x_write_time GUARDED_BY(x_mutex){};  // of the last batch
    std::vector<pending_question> x_questions GUARDED_BY(x_mutex);
    std::set<std::shared_ptr<events::log::bell>> x_to_ring GUARDED_BY(x_mutex);
    bool x_is_answering GUARDED_BY(x_mutex) = false;
    std::uint64_t x_answer_rounds GUARDED_BY(x_mutex) = 0;

    std::deque<pending_append> x_to_answer;  // used only by the committing thread
};

}  // namespace herald::storage::embedded_log
