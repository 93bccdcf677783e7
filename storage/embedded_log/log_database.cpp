#include "storage/embedded_log/log_database.hpp"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <unordered_map>

#include "runtime/files.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "runtime/mutex.hpp"
#include "storage/embedded_log/limits.hpp"
#include "storage/embedded_log/torn_end.hpp"
#include "storage/rocks/rocks.hpp"
#include "storage/rocks/stored_format.hpp"

namespace herald::storage::embedded_log {
namespace {

using events::log::offset_range;
using events::log::record;
using events::log::topic_partition;

constexpr std::string_view expire_from_key = "e";
constexpr std::size_t head_bytes = 8 + 1 + 4;  // of a record row

// ---- rows

rocksdb::Slice slice_of(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
std::string_view view_of(const rocksdb::Slice& bytes) { return {bytes.data(), bytes.size()}; }

template <class Number>
void append_number(std::string& to, Number number) {
    for (int shift = static_cast<int>(sizeof number) * 8 - 8; shift >= 0; shift -= 8)
        to.push_back(static_cast<char>(static_cast<std::uint64_t>(number) >> shift & 0xff));
}

template <class Number>
Number number_at(std::string_view bytes, std::size_t at) {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i)
        number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
    return static_cast<Number>(number);
}

std::string partition_prefix(const topic_partition& where) {
    std::string key = "r" + where.topic + '\0';
    append_number(key, where.partition);
    return key;
}

std::string record_key(const topic_partition& where, std::int64_t offset) {
    std::string key = partition_prefix(where);
    append_number(key, offset);
    return key;
}

std::string topic_key(const std::string& topic) { return "t" + topic; }

std::string commit_row_key(const commit_key& which) {
    std::string key = "c" + which.first + '\0' + which.second.topic + '\0';
    append_number(key, which.second.partition);
    return key;
}

std::string commit_row(const stored_commit& commit) {
    std::string row;
    append_number(row, commit.next_offset);
    return row + commit.metadata;
}

std::string record_head(const record& what) {
    std::string head;
    append_number(head, what.time_ms);
    head.push_back(what.value ? '\1' : '\0');
    append_number(head, static_cast<std::uint32_t>(what.key.size()));
    return head;
}

/// Empty when the bytes are not a record row.
std::optional<record> record_of(std::string_view key, std::string_view row) {
    if (key.size() < sizeof(std::int64_t) || row.size() < head_bytes) return std::nullopt;
    const auto key_bytes = number_at<std::uint32_t>(row, 9);
    if (key_bytes > row.size() - head_bytes) return std::nullopt;
    record found;
    found.offset = number_at<std::int64_t>(key, key.size() - sizeof(std::int64_t));
    found.time_ms = number_at<std::int64_t>(row, 0);
    found.key = row.substr(head_bytes, key_bytes);
    if (row[8] != '\0') found.value = row.substr(head_bytes + key_bytes);
    return found;
}

// ---- the database

constexpr std::size_t open_files_most = 256;

rocksdb::Options log_options(std::size_t open_files_max) {
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = rocksdb::NewLRUCache(8ull << 20, 1);
    table.format_version = 5;
    rocksdb::Options options;
    options.create_if_missing = true;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    options.write_buffer_size = 16ull << 20;
    options.max_write_buffer_number = 4;
    options.max_total_wal_size = 64ull << 20;
    options.compression = rocksdb::kLZ4Compression;
    options.max_background_jobs = 2;
    options.max_open_files = static_cast<int>(std::min(open_files_max, open_files_most));
    options.max_file_opening_threads = 1;  // RocksDB aborts when one of several does not start
    options.bytes_per_sync = 1ull << 20;
    // A write-ahead log that ends too early, as after kill -9, is cut off there: the rest was not
    // acknowledged. Damage before the end is an error, since acknowledged records follow it: going back to
    // before the damage, as a database that can be rebuilt does, would lose them silently. (For an end torn
    // by a power failure see open_to_write.)
    options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
    options.max_bgerror_resume_count = 0;  // the committer reopens it instead
    options.stats_dump_period_sec = 0;
    options.stats_persist_period_sec = 0;
    options.info_log = rocks::make_rocks_logger();
    return options;
}

/// Creates the folder so that it survives a power failure.
std::error_code make_folder(const std::filesystem::path& folder) {
    std::error_code failed;
    if (!std::filesystem::create_directories(folder, failed) || failed) return failed;
    return runtime::make_durable(std::filesystem::absolute(folder).parent_path());
}

}  // namespace

log_database::log_database(std::filesystem::path folder, std::size_t open_files_max)
    : x_folder(std::move(folder)), x_open_files_max(open_files_max) {}
log_database::~log_database() { close(); }

error log_database::error_of(const rocksdb::Status& status) const {
    const std::string text = status.ToString();
    const std::string where = "the log in " + x_folder.string();
    if (status.IsIOError() && text.find("/LOCK") != std::string::npos) {
        // Only RocksDB's words show whether the file is locked or cannot be opened.
        const bool is_held = text.find("Resource temporarily unavailable") != std::string::npos ||
                             text.find("lock hold by current process") != std::string::npos;
        return runtime::unavailable(
            {where, (is_held ? " is in use by another process" : " cannot be opened: " + text)});
    }
    const bool is_gone = status.IsPathNotFound() || text.find("No such file") != std::string::npos;
    if (status.IsCorruption() || is_gone)
        return runtime::failed_precondition({where, " is damaged and cannot be repaired: ", text});
    if (status.IsInvalidArgument() || status.IsNotSupported())
        return runtime::failed_precondition({where, " cannot be opened: ", text});
    return runtime::unavailable({where, ": ", text});
}

error log_database::closed() const {
    return runtime::unavailable({"the log in ", x_folder.string(), " is not open"});
}

result<log_contents> log_database::open() {
    const runtime::lock_guard lock(x_open_mutex);
    return open_to_write();
}

result<log_contents> log_database::reopen() {
    const runtime::lock_guard lock(x_open_mutex);
    x_is_writable = false;
    x_db.reset();
    result<log_contents> found = open_to_write();
    rocksdb::DB* opened = nullptr;
    if (!found &&
        rocksdb::DB::OpenForReadOnly(log_options(x_open_files_max), x_folder.string(), &opened).ok())
        x_db.reset(opened);
    return found;
}

result<log_contents> log_database::open_to_write() {
    if (const std::error_code failed = make_folder(x_folder))
        return runtime::unavailable({"the log's folder ", x_folder.string(), ": ", failed.message()});
    if (const auto known = rocks::check_stored_format(x_folder, "the log"); !known) return known.error();
    rocksdb::DB* opened = nullptr;
    rocksdb::Options options = log_options(x_open_files_max);
    rocksdb::Status status = rocksdb::DB::Open(options, x_folder.string(), &opened);
    if (status.IsCorruption() && has_torn_end(x_folder)) {
        runtime::log(runtime::log_level::warning, runtime::log_events::log_end_cut,
                     {{"reason", status.ToString()}});
        options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
        status = rocksdb::DB::Open(options, x_folder.string(), &opened);
    }
    if (!status.ok()) return error_of(status);
    x_db.reset(opened);
    result<log_contents> found = load();
    if (!found) x_db.reset();
    x_is_writable = x_db != nullptr;
    return found;
}

void log_database::close() {
    const runtime::lock_guard lock(x_open_mutex);
    if (x_db == nullptr) return;
    x_db->SyncWAL().PermitUncheckedError();
    x_db->Flush({}).PermitUncheckedError();
    x_db.reset();
}

result<log_contents> log_database::load() const {
    log_contents found;
    const std::unique_ptr<rocksdb::Iterator> rows(x_db->NewIterator({}));
    for (rows->Seek("c"); rows->Valid() && view_of(rows->key()).starts_with('c'); rows->Next()) {
        const std::string_view key = view_of(rows->key()).substr(1);
        const std::string_view row = view_of(rows->value());
        const std::size_t group_end = key.find('\0');
        const std::size_t topic_end = key.size() - sizeof(std::int32_t) - 1;
        const topic_partition where{std::string(key.substr(group_end + 1, topic_end - group_end - 1)),
                                    number_at<std::int32_t>(key, topic_end + 1)};
        found.commits[{std::string(key.substr(0, group_end)), where}] = {
            number_at<std::int64_t>(row, 0), std::string(row.substr(sizeof(std::int64_t)))};
    }
    for (rows->Seek("t"); rows->Valid() && view_of(rows->key()).starts_with('t'); rows->Next()) {
        const result<void> loaded = load_topic(std::string(view_of(rows->key()).substr(1)),
                                               number_at<std::int32_t>(view_of(rows->value()), 0), found);
        if (!loaded) return loaded.error();
    }
    rows->Seek(slice_of(expire_from_key));
    if (rows->Valid() && view_of(rows->key()) == expire_from_key)
        found.expire_from_ms = number_at<std::int64_t>(view_of(rows->value()), 0);
    if (!rows->status().ok()) return error_of(rows->status());
    return found;
}

result<void> log_database::set_expire_from(std::int64_t log_time_ms) {
    const runtime::shared_lock lock(x_open_mutex);
    if (!x_is_writable) return closed();
    std::string row;
    append_number(row, log_time_ms);
    rocksdb::WriteOptions synced;
    synced.sync = true;
    const rocksdb::Status status = x_db->Put(synced, slice_of(expire_from_key), row);
    if (!status.ok()) return error_of(status);
    return {};
}

result<void> log_database::load_topic(std::string topic, std::int32_t partitions, log_contents& found) const {
    const std::unique_ptr<rocksdb::Iterator> rows(x_db->NewIterator({}));
    const auto offset_here = [&] {
        const std::string_view key = view_of(rows->key());
        return number_at<std::int64_t>(key, key.size() - sizeof(std::int64_t));
    };
    for (std::int32_t partition = 0; partition < partitions; ++partition) {
        const topic_partition where{topic, partition};
        const std::string prefix = partition_prefix(where);
        offset_range& range = found.partitions[where];
        rows->Seek(prefix);
        if (rows->Valid() && view_of(rows->key()).starts_with(prefix)) {
            range.first = offset_here();
            rows->SeekForPrev(record_key(where, INT64_MAX));
            if (rows->Valid()) {
                range.next = offset_here() + 1;
                const auto time_ms = number_at<std::int64_t>(view_of(rows->value()), 0);
                found.newest_ms = std::max(found.newest_ms.value_or(time_ms), time_ms);
            }
        }
        if (!rows->status().ok()) return error_of(rows->status());
    }
    found.topics[std::move(topic)] = partitions;
    return {};
}

result<void> log_database::write(const log_write& what) {
    const runtime::shared_lock lock(x_open_mutex);
    if (!x_is_writable) return closed();
    rocksdb::WriteBatch batch;
    if (what.synced) batch.PutLogData(slice_of(synced_mark));  // first, so that it is found (torn_end.hpp)
    for (const auto& [topic, partitions] : what.topics) {
        std::string count;
        append_number(count, partitions);
        batch.Put(topic_key(topic), count);
    }
    for (const auto& [key, commit] : what.commits) batch.Put(commit_row_key(key), commit_row(commit));
    for (const log_write::placed_record& each : what.records) {
        const std::string key = record_key(*each.where, each.what->offset);
        const std::string head = record_head(*each.what);
        const rocksdb::Slice key_parts[] = {key};
        const rocksdb::Slice row_parts[] = {
            head, each.what->key, each.what->value ? slice_of(*each.what->value) : rocksdb::Slice()};
        batch.Put(rocksdb::SliceParts(key_parts, 1), rocksdb::SliceParts(row_parts, 3));
    }
    rocksdb::WriteOptions options;
    options.sync = what.synced;
    const rocksdb::Status status = x_db->Write(options, &batch);
    if (!status.ok()) return error_of(status);
    return {};
}

/// Calls visitor(record) for each record of the range in order, until it returns false.
template <class Visitor>
result<void> log_database::visit(const topic_partition& where, offset_range range, Visitor visitor) const {
    const runtime::shared_lock lock(x_open_mutex);
    if (x_db == nullptr) return closed();
    const std::string end = record_key(where, range.next);
    const rocksdb::Slice end_slice(end);
    rocksdb::ReadOptions options;
    options.iterate_upper_bound = &end_slice;
    const std::unique_ptr<rocksdb::Iterator> rows(x_db->NewIterator(options));
    for (rows->Seek(record_key(where, range.first)); rows->Valid(); rows->Next()) {
        std::optional<record> found = record_of(view_of(rows->key()), view_of(rows->value()));
        if (!found) return error_of(rocksdb::Status::Corruption("a row is not a record's"));
        if (!visitor(std::move(*found))) break;
    }
    if (!rows->status().ok()) return error_of(rows->status());
    return {};
}

result<std::vector<record>> log_database::read(const topic_partition& where, std::int64_t from,
                                               std::int64_t below, std::size_t records_max,
                                               std::size_t bytes_max) const {
    std::vector<record> found;
    std::size_t bytes = 0;
    const result<void> visited = visit(where, {from, below}, [&](record&& each) {
        bytes += each.key.size() + (each.value ? each.value->size() : 0);
        found.push_back(std::move(each));
        return found.size() < records_max && bytes < bytes_max;
    });
    if (!visited) return visited.error();
    return found;
}

result<std::int64_t> log_database::find_expired(const topic_partition& where, offset_range range,
                                                std::int64_t before_ms, std::size_t records_max) const {
    std::int64_t end = range.first;
    std::size_t count = 0;
    const result<void> visited = visit(where, range, [&](const record& each) {
        if (each.time_ms >= before_ms || count++ == records_max) return false;
        end = each.offset + 1;
        return true;
    });
    if (!visited) return visited.error();
    return end;
}

result<void> log_database::erase(const topic_partition& where, offset_range range) {
    const runtime::shared_lock lock(x_open_mutex);
    if (!x_is_writable) return closed();
    const rocksdb::Status status = x_db->DeleteRange(
        {}, x_db->DefaultColumnFamily(), record_key(where, range.first), record_key(where, range.next));
    if (!status.ok()) return error_of(status);
    return {};
}

result<std::int64_t> log_database::compact(const topic_partition& where, offset_range range,
                                           compaction_ages ages) {
    std::unordered_map<std::string, std::int64_t> last;
    result<void> done = visit(where, range, [&](const record& each) {
        last[each.key] = each.offset;
        return true;
    });
    if (!done) return done.error();
    std::int64_t stayed = 0;
    std::vector<std::int64_t> superseded;
    done = visit(where, range, [&](const record& each) {
        const bool is_last = last[each.key] == each.offset;
        const bool is_dead_end = is_last && !each.value && each.offset != range.next - 1;
        const bool goes = (!is_last && each.time_ms < ages.superseded_before_ms) ||
                          (is_dead_end && each.time_ms < ages.tombstones_before_ms);
        if (goes)
            superseded.push_back(each.offset);
        else
            ++stayed;
        return true;
    });
    if (!done) return done.error();

    const runtime::shared_lock lock(x_open_mutex);
    if (!x_is_writable) return closed();
    for (std::size_t i = 0; i < superseded.size(); i += limits::log_erased_per_write_max) {
        rocksdb::WriteBatch batch;
        for (std::size_t j = i; j < std::min(superseded.size(), i + limits::log_erased_per_write_max); ++j)
            batch.Delete(record_key(where, superseded[j]));
        const rocksdb::Status status = x_db->Write({}, &batch);
        if (!status.ok()) return error_of(status);
    }
    return stayed;
}

}  // namespace herald::storage::embedded_log
