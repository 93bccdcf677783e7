#include "storage/deliveries/history_database.hpp"

#include <rocksdb/cache.h>
#include <rocksdb/compaction_filter.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <system_error>

#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "storage/deliveries/history_keys.hpp"
#include "storage/deliveries/limits.hpp"
#include "storage/rocks/rocks.hpp"
#include "storage/rocks/stored_format.hpp"

namespace herald::storage::deliveries {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds reopening_rest{1'000};  // after a failed write
constexpr std::size_t file_bytes = 8ull << 20;              // of a file of bodies
constexpr std::size_t rows_file_bytes = 32ull << 20;
constexpr std::uint64_t looked_through_seconds = 24ull * 3'600;  // files that old are merged, to expire rows

/// Drops rows that have had their time.
class expiry final : public rocksdb::CompactionFilter {
  public:
    explicit expiry(std::shared_ptr<const history_age> age) : x_age(std::move(age)) {}
    const char* Name() const override { return "herald.deliveries.expiry"; }
    bool Filter(int, const rocksdb::Slice& key, const rocksdb::Slice& value, std::string*,
                bool*) const override {
        return has_expired(key.ToStringView(), value.ToStringView(), x_age->newest_ms, x_age->kept_ms);
    }
    bool IgnoreSnapshots() const override { return true; }

  private:
    const std::shared_ptr<const history_age> x_age;
};

class expiry_factory final : public rocksdb::CompactionFilterFactory {
  public:
    explicit expiry_factory(std::shared_ptr<const history_age> age) : x_age(std::move(age)) {}
    const char* Name() const override { return "herald.deliveries.expiry"; }
    std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
        const rocksdb::CompactionFilter::Context&) override {
        return std::make_unique<expiry>(x_age);
    }

  private:
    const std::shared_ptr<const history_age> x_age;
};

rocksdb::BlockBasedTableOptions table_options(std::size_t cache_bytes) {
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = rocksdb::NewLRUCache(cache_bytes);
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    table.checksum = rocksdb::kXXH3;  // Debian's RocksDB computes CRC in software
    return table;
}

rocksdb::ColumnFamilyOptions rows_options(std::shared_ptr<const history_age> age) {
    rocksdb::ColumnFamilyOptions options;
    options.table_factory.reset(
        rocksdb::NewBlockBasedTableFactory(table_options(limits::delivery_history_cache_bytes)));
    options.write_buffer_size = rows_file_bytes;
    options.target_file_size_base = rows_file_bytes;
    options.level_compaction_dynamic_level_bytes = true;
    options.periodic_compaction_seconds = looked_through_seconds;
    options.compression = rocksdb::kLZ4Compression;
    options.compaction_filter_factory = std::make_shared<expiry_factory>(std::move(age));
    return options;
}

rocksdb::ColumnFamilyOptions bodies_options(std::size_t open_files_max) {
    rocksdb::ColumnFamilyOptions options;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options(4ull << 20)));
    options.compaction_style = rocksdb::kCompactionStyleFIFO;
    options.compaction_options_fifo.max_table_files_size =
        std::min<std::uint64_t>(limits::delivery_history_bytes_max, open_files_max * file_bytes);
    options.compaction_options_fifo.allow_compaction = true;
    options.ttl = static_cast<std::uint64_t>(limits::delivery_history_kept_ms / 1'000);
    options.write_buffer_size = file_bytes;
    options.compression = rocksdb::kLZ4Compression;
    return options;
}

rocksdb::DBOptions database_options() {
    rocksdb::DBOptions options;
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    options.max_open_files = -1;  // FIFO looks at the age of every file
    options.max_background_jobs = 2;
    options.max_bgerror_resume_count = 0;
    options.env = rocks::env_without_resumption();
    options.stats_dump_period_sec = 0;
    options.stats_persist_period_sec = 0;
    options.max_file_opening_threads = 1;  // RocksDB aborts when one of several does not start
    options.info_log = rocks::make_rocks_logger();
    return options;
}

}  // namespace

open_history::~open_history() {
    x_db->DestroyColumnFamilyHandle(x_rows);
    x_db->DestroyColumnFamilyHandle(x_bodies);
}

std::optional<std::string> open_history::get(const std::string& key) const {
    std::string value;
    if (!x_db->Get({}, x_rows, key, &value).ok()) return std::nullopt;
    return value;
}

result<std::unique_ptr<open_history>> history_database::open_folder(bool is_second_try) const {
    std::error_code failure;
    fs::create_directories(x_folder, failure);
    if (failure)
        return runtime::unavailable(
            {"the folder ", x_folder.string(), " cannot be used: ", failure.message()});
    if (const auto known = rocks::check_stored_format(x_folder, "the history of deliveries"); !known)
        return known.error();
    rocksdb::DB* db = nullptr;
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    const rocksdb::Status status =
        rocksdb::DB::Open(database_options(), x_folder.string(),
                          {{rocksdb::kDefaultColumnFamilyName, rows_options(x_age)},
                           {"bodies", bodies_options(x_open_files_max)}},
                          &handles, &db);
    if (status.ok())
        return std::make_unique<open_history>(std::unique_ptr<rocksdb::DB>(db), handles[0], handles[1]);
    // A missing file is damage, too. Only history is lost, so the node serves all the same.
    const bool is_damaged =
        status.IsCorruption() || status.ToString().find("No such file") != std::string::npos;
    if (is_damaged && !is_second_try) {
        runtime::log(runtime::log_level::warning, runtime::log_events::delivery_history_reset,
                     {{"reason", status.ToString()}});
        fs::remove_all(x_folder, failure);
        return open_folder(true);
    }
    return runtime::unavailable(
        {"the history of deliveries in ", x_folder.string(), " cannot be opened: ", status.ToString()});
}

result<std::unique_ptr<history_database>> history_database::open(fs::path folder,
                                                                 std::size_t open_files_max) {
    std::unique_ptr<history_database> made(new history_database(std::move(folder), open_files_max));
    made->x_age->kept_ms = limits::delivery_history_kept_ms;
    auto opened = made->open_folder(false);
    if (!opened) return opened.error();
    const runtime::lock_guard lock(made->x_mutex);
    made->x_open = *std::move(opened);
    return made;
}

void history_database::with(const std::function<void(const open_history&)>& use) const {
    const runtime::shared_lock lock(x_mutex);
    if (x_open) use(*x_open);
}

/// After a failed write RocksDB takes no more writes until it is opened anew, once there is room.
void history_database::reopen() {
    const auto now = std::chrono::steady_clock::now();
    if (!x_reopen_at || now < *x_reopen_at || !rocks::has_room(x_folder)) return;
    const runtime::lock_guard lock(x_mutex);
    x_open.reset();
    auto opened = open_folder(false);
    x_reopen_at = now + reopening_rest;
    if (!opened) return;
    x_open = *std::move(opened);
    x_reopen_at.reset();
}

std::optional<std::string> history_database::write(
    const std::function<void(const open_history&, rocksdb::WriteBatch&)>& fill) {
    reopen();
    const runtime::shared_lock lock(x_mutex);
    if (!x_open) return "the database is not open";
    rocksdb::WriteBatch batch;
    fill(*x_open, batch);
    const rocksdb::Status status = x_open->db().Write({}, &batch);
    if (status.ok()) return std::nullopt;
    if (!x_reopen_at) {
        runtime::log(runtime::log_level::warning, runtime::log_events::delivery_history_trouble,
                     {{"reason", status.ToString()}});
        x_reopen_at = std::chrono::steady_clock::now() + reopening_rest;
    }
    return status.ToString();
}

}  // namespace herald::storage::deliveries
