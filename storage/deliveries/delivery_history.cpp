#include "storage/deliveries/delivery_history.hpp"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <system_error>

#include "events/log/topics.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "runtime/mutex.hpp"
#include "schemas/binary.hpp"
#include "schemas/limits.hpp"
#include "storage/deliveries/limits.hpp"
#include "storage/rocks/rocks.hpp"
#include "storage/rocks/stored_format.hpp"

namespace herald::storage::deliveries {
namespace {

namespace fs = std::filesystem;
using schemas::attempt;
using schemas::attempt_result;

// Rows; numbers are 8 bytes big-endian, texts end with a 0 byte:
//   a  delivery id, partition, offset          → attempt
//   w  webhook, time in ms, partition, offset  → attempt
//   e  event id, delivery id                   → time in ms of the newest attempt, its result (a varint)
//   o  partition                               → the next offset to read (a varint)
constexpr std::chrono::milliseconds reopening_rest{1'000};  // after a failed write

constexpr std::size_t file_bytes = 8ull << 20;  // of the smallest files that are no longer merged

rocksdb::Options fading_options(std::size_t open_files_max) {
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = rocksdb::NewLRUCache(4ull << 20, 0);
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    table.checksum = rocksdb::kXXH3;  // Debian's RocksDB computes CRC in software
    rocksdb::Options options;
    options.create_if_missing = true;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    options.compaction_style = rocksdb::kCompactionStyleFIFO;
    options.compaction_options_fifo.max_table_files_size =
        std::min<std::uint64_t>(limits::delivery_history_bytes_max, open_files_max * file_bytes);
    options.compaction_options_fifo.allow_compaction = true;
    options.ttl = static_cast<std::uint64_t>(limits::delivery_history_kept_ms / 1'000);
    options.max_open_files = -1;  // FIFO looks at the age of every file
    options.write_buffer_size = file_bytes;
    options.compression = rocksdb::kLZ4Compression;
    options.max_background_jobs = 2;
    options.max_bgerror_resume_count = 0;
    options.env = rocks::env_without_resumption();
    options.stats_dump_period_sec = 0;
    options.stats_persist_period_sec = 0;
    options.max_file_opening_threads = 1;  // RocksDB aborts when one of several does not start
    options.info_log = rocks::make_rocks_logger();
    return options;
}

class row_key {
  public:
    explicit row_key(char kind) : x_bytes(1, kind) {}
    row_key& text(std::string_view value) {
        x_bytes += value;
        x_bytes += '\0';
        return *this;
    }
    row_key& number(std::uint64_t value) {
        schemas::append_big_endian(x_bytes, value);
        return *this;
    }
    const std::string& bytes() const { return x_bytes; }

  private:
    std::string x_bytes;
};

std::string varint(std::uint64_t value) {
    std::string bytes;
    schemas::append_varint(bytes, value);
    return bytes;
}

std::uint64_t number_of(std::string_view bytes) {
    std::uint64_t value = 0;
    return schemas::take_varint(bytes, value) ? value : 0;
}

std::uint64_t time_of(const attempt& made) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(made.time_ms, 0));
}

/// Errors: unavailable; failed_precondition when another build made it.
result<std::unique_ptr<rocksdb::DB>> open_database(const fs::path& folder, std::size_t open_files_max,
                                                   bool is_second_try);

class rocks_delivery_history final : public delivery_history {
  public:
    rocks_delivery_history(fs::path folder, std::size_t open_files_max, std::unique_ptr<rocksdb::DB> db)
        : x_folder(std::move(folder)), x_open_files_max(open_files_max), x_db(std::move(db)) {}

    delivery_counts deliveries_of_event(std::string_view event_id) const override;
    std::vector<attempt> lost_deliveries_of_event(std::string_view event_id) const override;
    std::vector<attempt> attempts_of_delivery(std::string_view delivery_id) const override;
    std::vector<attempt> attempts_of_webhook(schemas::webhook_id, std::int64_t before_ms,
                                             std::size_t most) const override;

    void keep(std::int32_t partition, const std::vector<placed_attempt>&, std::uint64_t next_offset) override;
    std::uint64_t next_offset(std::int32_t partition) const override;

  private:
    void reopen();
    void count(rocksdb::WriteBatch&, const attempt&) const REQUIRES_SHARED(x_db_mutex);
    void scan(const std::string& prefix,
              const std::function<bool(std::string_view, std::string_view)>&) const;

    const fs::path x_folder;
    const std::size_t x_open_files_max;
    mutable runtime::shared_mutex x_db_mutex;  // held exclusively while the keeping thread reopens it
    std::unique_ptr<rocksdb::DB> x_db GUARDED_BY(x_db_mutex);          // null: could not be reopened yet
    std::optional<std::chrono::steady_clock::time_point> x_reopen_at;  // keeping thread only: a write failed
};

// ---- keeping

/// After a failed write RocksDB takes no more writes until it is reopened, once there is room.
void rocks_delivery_history::reopen() {
    const auto now = std::chrono::steady_clock::now();
    if (!x_reopen_at || now < *x_reopen_at || !rocks::has_room(x_folder)) return;
    const runtime::lock_guard lock(x_db_mutex);
    x_db.reset();
    auto opened = open_database(x_folder, x_open_files_max, false);
    x_reopen_at = now + reopening_rest;
    if (!opened) return;
    x_db = *std::move(opened);
    x_reopen_at.reset();
}

void rocks_delivery_history::keep(std::int32_t partition, const std::vector<placed_attempt>& read,
                                  std::uint64_t next_offset) {
    reopen();
    const runtime::shared_lock lock(x_db_mutex);
    if (!x_db) return;
    rocksdb::WriteBatch batch;
    const auto number = static_cast<std::uint64_t>(partition);
    for (const auto& [offset, made] : read) {
        const std::string bytes = schemas::encode(made);
        row_key of_delivery('a');
        of_delivery.text(made.delivery_id).number(number).number(offset);
        row_key of_webhook('w');
        of_webhook.number(made.webhook_id.value).number(time_of(made)).number(number).number(offset);
        batch.Put(of_delivery.bytes(), bytes);
        batch.Put(of_webhook.bytes(), bytes);
        count(batch, made);
    }
    batch.Put(row_key('o').number(number).bytes(), varint(next_offset));
    const rocksdb::Status status = x_db->Write({}, &batch);
    if (status.ok() || x_reopen_at) return;
    runtime::log(runtime::log_level::warning, runtime::log_events::delivery_history_trouble,
                 {{"partition", std::int64_t{partition}}, {"reason", status.ToString()}});
    x_reopen_at = std::chrono::steady_clock::now() + reopening_rest;
}

std::uint64_t rocks_delivery_history::next_offset(std::int32_t partition) const {
    const std::string key = row_key('o').number(static_cast<std::uint64_t>(partition)).bytes();
    std::string stored;
    const runtime::shared_lock lock(x_db_mutex);
    return x_db && x_db->Get({}, key, &stored).ok() ? number_of(stored) : 0;
}

void rocks_delivery_history::count(rocksdb::WriteBatch& batch, const attempt& made) const {
    if (made.source == schemas::delivery_source::test) return;
    const std::string key = row_key('e').text(made.event_id).text(made.delivery_id).bytes();
    std::string known;
    if (x_db->Get({}, key, &known).ok() && known.size() > 8 &&
        schemas::read_big_endian(known) > time_of(made))
        return;
    std::string value;
    schemas::append_big_endian(value, time_of(made));
    schemas::append_varint(value, static_cast<std::uint64_t>(made.result));
    batch.Put(key, value);
}

// ---- questions

void rocks_delivery_history::scan(
    const std::string& prefix, const std::function<bool(std::string_view, std::string_view)>& visit) const {
    const runtime::shared_lock lock(x_db_mutex);
    if (!x_db) return;
    const std::unique_ptr<rocksdb::Iterator> row(x_db->NewIterator({}));
    for (row->Seek(prefix); row->Valid() && row->key().starts_with(prefix); row->Next())
        if (!visit(row->key().ToStringView(), row->value().ToStringView())) return;
}

delivery_counts rocks_delivery_history::deliveries_of_event(std::string_view event_id) const {
    delivery_counts counts;
    scan(row_key('e').text(event_id).bytes(), [&](std::string_view, std::string_view value) {
        if (value.size() <= 8) return true;
        switch (static_cast<attempt_result>(number_of(value.substr(8)))) {
            case attempt_result::succeeded:
                ++counts.succeeded;
                break;
            case attempt_result::dead:
                ++counts.dead;
                break;
            case attempt_result::will_retry:
            case attempt_result::held:
                ++counts.pending;
                break;
            case attempt_result::skipped:
                ++counts.skipped;
                break;
        }
        return true;
    });
    return counts;
}

std::vector<attempt> rocks_delivery_history::lost_deliveries_of_event(std::string_view event_id) const {
    std::vector<std::string> deliveries;
    const std::string prefix = row_key('e').text(event_id).bytes();
    scan(prefix, [&](std::string_view key, std::string_view value) {
        if (value.size() <= 8) return true;
        const auto last = static_cast<attempt_result>(number_of(value.substr(8)));
        if (last != attempt_result::succeeded && last != attempt_result::will_retry)
            deliveries.emplace_back(key.substr(prefix.size(), key.size() - prefix.size() - 1));
        return deliveries.size() < limits::webhooks_per_workspace_max;
    });
    std::vector<attempt> found;
    for (const std::string& each : deliveries)
        if (auto attempts = attempts_of_delivery(each); !attempts.empty())
            found.push_back(std::move(attempts.back()));
    return found;
}

std::vector<attempt> rocks_delivery_history::attempts_of_delivery(std::string_view delivery_id) const {
    std::vector<attempt> found;
    scan(row_key('a').text(delivery_id).bytes(), [&](std::string_view, std::string_view value) {
        if (auto made = schemas::decode<attempt>(value)) found.push_back(*std::move(made));
        return found.size() < limits::list_rows_max;
    });
    std::stable_sort(found.begin(), found.end(),
                     [](const attempt& left, const attempt& right) { return left.time_ms < right.time_ms; });
    return found;
}

std::vector<attempt> rocks_delivery_history::attempts_of_webhook(schemas::webhook_id webhook,
                                                                 std::int64_t before_ms,
                                                                 std::size_t most) const {
    std::vector<attempt> found;
    const std::string prefix = row_key('w').number(webhook.value).bytes();
    const std::string end =
        row_key('w').number(webhook.value).number(static_cast<std::uint64_t>(before_ms)).bytes();
    const runtime::shared_lock lock(x_db_mutex);
    if (!x_db) return found;
    const std::unique_ptr<rocksdb::Iterator> row(x_db->NewIterator({}));
    row->SeekForPrev(end);
    for (; row->Valid() && row->key().starts_with(prefix) && found.size() < most; row->Prev())
        if (auto made = schemas::decode<attempt>(row->value().ToStringView()))
            found.push_back(*std::move(made));
    return found;
}

result<std::unique_ptr<rocksdb::DB>> open_database(const fs::path& folder, std::size_t open_files_max,
                                                   bool is_second_try) {
    std::error_code failure;
    fs::create_directories(folder, failure);
    if (failure)
        return runtime::unavailable("the folder " + folder.string() +
                                    " cannot be used: " + failure.message());
    if (const auto known = rocks::check_stored_format(folder, "the history of deliveries"); !known)
        return known.error();
    rocksdb::DB* db = nullptr;
    const rocksdb::Status status = rocksdb::DB::Open(fading_options(open_files_max), folder.string(), &db);
    if (status.ok()) return std::unique_ptr<rocksdb::DB>(db);
    // A missing file is damage, too. Only history is lost, so the node serves all the same.
    const bool is_damaged =
        status.IsCorruption() || status.ToString().find("No such file") != std::string::npos;
    if (is_damaged && !is_second_try) {
        runtime::log(runtime::log_level::warning, runtime::log_events::delivery_history_reset,
                     {{"reason", status.ToString()}});
        fs::remove_all(folder, failure);
        return open_database(folder, open_files_max, true);
    }
    return runtime::unavailable("the history of deliveries in " + folder.string() +
                                " cannot be opened: " + status.ToString());
}

}  // namespace

result<std::unique_ptr<delivery_history>> open_delivery_history(const fs::path& folder,
                                                                std::size_t open_files_max) {
    auto db = open_database(folder, open_files_max, false);
    if (!db) return db.error();
    return std::unique_ptr<delivery_history>(
        std::make_unique<rocks_delivery_history>(folder, open_files_max, *std::move(db)));
}

}  // namespace herald::storage::deliveries
