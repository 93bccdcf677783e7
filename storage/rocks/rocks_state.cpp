#include "storage/rocks/rocks_state.hpp"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <optional>
#include <system_error>

#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "runtime/mutex.hpp"
#include "runtime/newest.hpp"
#include "storage/registry/access/access_memory.hpp"
#include "storage/rocks/rocks.hpp"
#include "storage/rocks/stored_format.hpp"

namespace herald::storage::rocks {
namespace {

using registry::access::access_memory;
using registry::state::state_view;

namespace fs = std::filesystem;

constexpr std::size_t block_cache_bytes = 16ull << 20;
constexpr std::size_t memtable_bytes = 16ull << 20;
constexpr std::size_t open_files_most = 256;
constexpr std::chrono::milliseconds reopening_rest{2'000};  // after a failed write
// Files beside the database's own; each contains the reason.
constexpr std::string_view rebuild_mark = "HERALD_REBUILD";
constexpr std::string_view refused_mark = "HERALD_REFUSED";

rocksdb::Options options_for_points(std::size_t open_files_max) {
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = rocksdb::NewLRUCache(block_cache_bytes, 2);
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    table.checksum = rocksdb::kXXH3;  // Debian's RocksDB computes CRC in software
    table.format_version = 5;
    rocksdb::Options options;
    options.create_if_missing = true;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    options.write_buffer_size = memtable_bytes;
    options.max_write_buffer_number = 3;
    options.memtable_prefix_bloom_size_ratio = 0.02;  // most look-ups of names find nothing
    options.memtable_whole_key_filtering = true;
    options.compression = rocksdb::kLZ4Compression;
    options.max_background_jobs = 2;
    options.max_open_files = static_cast<int>(std::min(open_files_max, open_files_most));
    options.max_file_opening_threads = 1;  // RocksDB aborts when one of several does not start
    options.max_total_wal_size = 4 * memtable_bytes;
    // If the end of the write-ahead log is torn or damaged, go back to before it: the command log has the
    // rest.
    options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
    options.max_bgerror_resume_count = 0;
    options.env = env_without_resumption();
    options.stats_dump_period_sec = 0;
    options.stats_persist_period_sec = 0;
    options.info_log = make_rocks_logger();
    return options;
}

rocksdb::Slice slice_of(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
std::string_view view_of(const rocksdb::Slice& bytes) { return {bytes.data(), bytes.size()}; }

/// The open database, kept open by the store and every view; remembers that it cannot be read.
class database {
  public:
    database(rocksdb::DB* db, fs::path folder) : x_db(db), x_folder(std::move(folder)) {}

    rocksdb::DB& db() const noexcept { return *x_db; }

    /// Throws state_unreadable unless the status is good.
    void require(const rocksdb::Status& status) const {
        if (status.ok()) [[likely]]
            return;
        const std::string what =
            "the state database in " + x_folder.string() + " cannot be read back: " + status.ToString();
        if (!status.IsCorruption()) {
            report(unreadable::io_error, what);
            throw registry::state::state_unreadable{what};
        }
        mark(rebuild_mark, what);
        report(unreadable::corrupt, what);
        throw registry::state::state_corrupt{what};
    }

    void mark(std::string_view name, const std::string& why) const {
        std::ofstream(x_folder / name) << why << '\n';
    }

    bool has_room(std::uint64_t bytes) const { return rocks::has_room(x_folder, bytes); }

    /// The room to open it again. Rows that are not in tables yet are assumed to shrink half as well as those
    /// in tables.
    std::uint64_t room_to_reopen() const {
        rocksdb::TablePropertiesCollection tables;
        x_db->GetPropertiesOfAllTables(&tables).PermitUncheckedError();
        double raw = 0;
        double written = 0;
        for (const auto& [name, one] : tables) {
            raw += static_cast<double>(one->raw_key_size + one->raw_value_size);
            written += static_cast<double>(one->data_size + one->index_size + one->filter_size);
        }
        return room_to_open(x_folder, raw > 0 ? std::min(1.0, 2 * written / raw) : 1.0);
    }

    void on_unreadable(const std::function<void(unreadable)>& handler) {
        std::optional<unreadable> trouble;
        {
            const runtime::lock_guard lock(x_mutex);
            trouble = x_trouble;
            if (!trouble) x_handler = handler;
        }
        if (trouble) handler(*trouble);
    }

  private:
    void report(unreadable trouble, const std::string& what) const {
        std::function<void(unreadable)> handler;
        {
            const runtime::lock_guard lock(x_mutex);
            if (!x_trouble)
                runtime::log(runtime::log_level::error, runtime::log_events::state_unreadable,
                             {{"reason", what}});
            x_trouble = trouble;
            handler = std::exchange(x_handler, nullptr);
        }
        if (handler) handler(trouble);
    }

    const std::unique_ptr<rocksdb::DB> x_db;
    const fs::path x_folder;
    mutable runtime::mutex x_mutex;
    mutable std::optional<unreadable> x_trouble GUARDED_BY(x_mutex);
    mutable std::function<void(unreadable)> x_handler GUARDED_BY(x_mutex);
};

class rocks_view final : public state_view {
  public:
    rocks_view(std::shared_ptr<database> in, std::shared_ptr<access_memory> access)
        : x_in(std::move(in)), x_access(std::move(access)), x_snapshot(x_in->db().GetSnapshot()) {
        x_options.snapshot = x_snapshot;
    }
    ~rocks_view() override { x_in->db().ReleaseSnapshot(x_snapshot); }
    rocks_view(const rocks_view&) = delete;
    rocks_view& operator=(const rocks_view&) = delete;

    bool read(std::string_view key, const registry::state::row_reader& reader) const override {
        rocksdb::PinnableSlice value;
        const rocksdb::Status status =
            x_in->db().Get(x_options, x_in->db().DefaultColumnFamily(), slice_of(key), &value);
        if (status.IsNotFound()) return false;
        x_in->require(status);
        reader(view_of(value));
        return true;
    }

    void scan(std::string_view prefix, std::string_view from,
              const registry::state::row_visitor& visit) const override {
        const std::string end = registry::state::end_of(prefix);
        const rocksdb::Slice end_slice(end);
        rocksdb::ReadOptions options = x_options;
        if (!end.empty()) options.iterate_upper_bound = &end_slice;
        const std::unique_ptr<rocksdb::Iterator> row(x_in->db().NewIterator(options));
        for (row->Seek(slice_of(std::max(prefix, from))); row->Valid(); row->Next())
            if (!visit(view_of(row->key()), view_of(row->value()))) return;
        x_in->require(row->status());
    }

    void scan_back(std::string_view prefix, std::string_view before,
                   const registry::state::row_visitor& visit) const override {
        const std::string end = before.empty() ? registry::state::end_of(prefix) : std::string(before);
        const rocksdb::Slice first_slice = slice_of(prefix), end_slice(end);
        rocksdb::ReadOptions options = x_options;
        options.iterate_lower_bound = &first_slice;
        if (!end.empty()) options.iterate_upper_bound = &end_slice;
        const std::unique_ptr<rocksdb::Iterator> row(x_in->db().NewIterator(options));
        for (row->SeekToLast(); row->Valid(); row->Prev())
            if (!visit(view_of(row->key()), view_of(row->value()))) return;
        x_in->require(row->status());
    }

    registry::state::view_memory* memory() const noexcept override { return x_access.get(); }

  private:
    const std::shared_ptr<database> x_in;
    const std::shared_ptr<access_memory> x_access;
    const rocksdb::Snapshot* const x_snapshot;
    rocksdb::ReadOptions x_options;
};

class rocks_state_store final : public rocks_state {
  public:
    explicit rocks_state_store(std::shared_ptr<database> in) : x_in(std::move(in)) { publish(); }

    result<void> write(const registry::state::row_changes& changes) override {
        std::size_t bytes = 0;
        for (const auto& [key, value] : changes) bytes += key.size() + (value ? value->size() : 0) + 8;
        rocksdb::WriteBatch batch(bytes);
        for (const auto& [key, value] : changes) {
            if (value)
                x_in->require(batch.Put(key, *value));
            else
                x_in->require(batch.Delete(key));
        }
        const rocksdb::Status status = x_in->db().Write({}, &batch);
        if (!status.ok()) return write_failed(status);
        const auto matters = [&](const auto& change) { return x_access->depends_on(change.first); };
        if (std::any_of(changes.begin(), changes.end(), matters))
            x_access = std::make_shared<access_memory>();
        publish();
        return {};
    }

    std::shared_ptr<const state_view> view() const override { return x_newest.load(); }
    bool is_written_beside() const noexcept override { return true; }

    void verify() const override {
        x_in->require(x_in->db().VerifyChecksum());
        view()->scan({}, {}, [](std::string_view, std::string_view) { return true; });
    }

    void on_unreadable(const std::function<void(unreadable)>& handler) override {
        x_in->on_unreadable(handler);
    }
    void mark_for_rebuilding(const std::string& why) const override { x_in->mark(rebuild_mark, why); }
    void mark_as_refused(const std::string& why) const override { x_in->mark(refused_mark, why); }
    result<void> copy_to(const fs::path& folder) const override {
        rocksdb::Checkpoint* made = nullptr;
        rocksdb::Status status = rocksdb::Checkpoint::Create(&x_in->db(), &made);
        const std::unique_ptr<rocksdb::Checkpoint> copy(made);
        if (status.ok()) status = copy->CreateCheckpoint(folder.string());
        if (status.ok()) return put_stored_format(folder);
        return runtime::unavailable(
            {"the state database cannot be copied to ", folder.string(), ": ", status.ToString()});
    }
    void on_reopening(std::function<void()> handler) override { x_on_reopening = std::move(handler); }

  private:
    void publish() { x_newest.store(std::make_shared<rocks_view>(x_in, x_access)); }

    /// After a failed write RocksDB takes no more writes until it is reopened.
    error write_failed(const rocksdb::Status& status) {
        if (status.IsCorruption()) x_in->require(status);
        const auto now = std::chrono::steady_clock::now();
        if (!x_failed_at) {
            x_failed_at = now;
            x_room_bytes = x_in->room_to_reopen();
            runtime::log(runtime::log_level::error, runtime::log_events::rocksdb_message,
                         {{"message", status.ToString()}});
        }
        const bool has_room = x_in->has_room(x_room_bytes);
        if (x_on_reopening && now - *x_failed_at >= reopening_rest && has_room)
            std::exchange(x_on_reopening, nullptr)();
        const std::uint64_t mebibytes = (x_room_bytes >> 20) + 1;
        return runtime::unavailable(
            {"the state database cannot be written; it resumes by itself",
             (has_room ? std::string(" within seconds")
                       : " once " + std::to_string(mebibytes) + " MB of its disk are free")});
    }

    const std::shared_ptr<database> x_in;
    std::shared_ptr<access_memory> x_access = std::make_shared<access_memory>();
    runtime::newest<const state_view> x_newest;
    // Used only by the writing thread.
    std::function<void()> x_on_reopening;
    std::optional<std::chrono::steady_clock::time_point> x_failed_at;  // the first write that failed
    std::uint64_t x_room_bytes = 0;                                    // for opening it again, as of then
};

bool is_damaged(const rocksdb::Status& status) {
    return status.IsCorruption() || status.IsPathNotFound() || status.IsNotFound() ||
           status.IsNotSupported() || status.IsInvalidArgument();
}

std::string read_mark(const fs::path& folder, std::string_view name) {
    std::ifstream mark(folder / name);
    std::string what;
    std::getline(mark, what);
    return what;
}

/// If there is a reason to drop the content, the folder is emptied first; if not, damage becomes such a
/// reason.
result<opened_state> open_in(const fs::path& folder, std::size_t open_files_max,
                             std::string rebuild_because) {
    std::error_code failure;
    if (!rebuild_because.empty()) fs::remove_all(folder, failure);
    if (!failure) fs::create_directories(folder, failure);
    if (failure)
        return runtime::unavailable({"the folder ", folder.string(), " cannot be used: ", failure.message()});
    if (const auto known = check_stored_format(folder, "the state database"); !known) return known.error();
    rocksdb::DB* db = nullptr;
    const rocksdb::Status status =
        rocksdb::DB::Open(options_for_points(open_files_max), folder.string(), &db);
    if (status.ok()) {
        auto store = std::make_unique<rocks_state_store>(std::make_shared<database>(db, folder));
        return opened_state{std::move(store), std::move(rebuild_because)};
    }
    if (rebuild_because.empty() && is_damaged(status))
        return open_in(folder, open_files_max, status.ToString());
    return runtime::unavailable(
        {"the state database in ", folder.string(), " cannot be opened: ", status.ToString()});
}

}  // namespace

result<opened_state> open_rocks_state(const fs::path& folder, std::size_t open_files_max) {
    if (const std::string why = read_mark(folder, refused_mark); !why.empty())
        return runtime::failed_precondition({"the state database in ", folder.string(),
                                             " is refused because: ", why,
                                             "; move it away, and Herald rebuilds it from the log"});
    auto opened = open_in(folder, open_files_max, read_mark(folder, rebuild_mark));
    if (opened && !opened->rebuilt_because.empty())
        runtime::log(runtime::log_level::warning, runtime::log_events::state_rebuild,
                     {{"reason", opened->rebuilt_because}});
    return opened;
}

}  // namespace herald::storage::rocks
