// The history's database: two column families, opened anew after a failed write.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/error.hpp"
#include "runtime/mutex.hpp"

namespace herald::storage::deliveries {

/// What the compaction filter goes by; shared with RocksDB's threads.
struct history_age {
    std::atomic<std::int64_t> newest_ms{0};  // the time of the newest attempt
    std::atomic<std::int64_t> kept_ms{0};
};

/// An opened database. `rows` is merged by levels and loses what has expired; `bodies` drops its oldest files
/// when it grows too large.
class open_history {
  public:
    open_history(std::unique_ptr<rocksdb::DB> db, rocksdb::ColumnFamilyHandle* rows,
                 rocksdb::ColumnFamilyHandle* bodies)
        : x_db(std::move(db)), x_rows(rows), x_bodies(bodies) {}
    ~open_history();
    open_history(const open_history&) = delete;

    rocksdb::DB& db() const noexcept { return *x_db; }
    rocksdb::ColumnFamilyHandle* rows() const noexcept { return x_rows; }
    rocksdb::ColumnFamilyHandle* bodies() const noexcept { return x_bodies; }

    std::optional<std::string> get(const std::string& key) const;
    /// Iterates over the rows.
    std::unique_ptr<rocksdb::Iterator> iterate() const {
        return std::unique_ptr<rocksdb::Iterator>(x_db->NewIterator({}, x_rows));
    }

  private:
    std::unique_ptr<rocksdb::DB> x_db;
    rocksdb::ColumnFamilyHandle* x_rows;
    rocksdb::ColumnFamilyHandle* x_bodies;
};

/// Reading: any thread. write() and reopen(): one thread at a time.
class history_database {
  public:
    /// Errors: unavailable; failed_precondition when another build made it. A damaged one is emptied.
    static result<std::unique_ptr<history_database>> open(std::filesystem::path folder,
                                                          std::size_t open_files_max);

    /// Calls `use` with the database; does nothing while it cannot be opened.
    void with(const std::function<void(const open_history&)>& use) const;
    /// Calls `fill` to fill a batch, and writes it. On an error the database rests, and is opened anew once
    /// there is room. Empty when it was written.
    std::optional<std::string> write(
        const std::function<void(const open_history&, rocksdb::WriteBatch&)>& fill);
    history_age& age() noexcept { return *x_age; }

  private:
    history_database(std::filesystem::path folder, std::size_t open_files_max)
        : x_folder(std::move(folder)), x_open_files_max(open_files_max) {}
    void reopen();
    result<std::unique_ptr<open_history>> open_folder(bool is_second_try) const;

    const std::filesystem::path x_folder;
    const std::size_t x_open_files_max;
    const std::shared_ptr<history_age> x_age = std::make_shared<history_age>();
    mutable runtime::shared_mutex x_mutex;                     // held exclusively while it is opened anew
    std::unique_ptr<open_history> x_open GUARDED_BY(x_mutex);  // null: could not be opened yet
    std::optional<std::chrono::steady_clock::time_point> x_reopen_at;  // writing thread only
};

}  // namespace herald::storage::deliveries
