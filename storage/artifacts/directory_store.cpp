#include "storage/artifacts/directory_store.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/this_coro.hpp>
#include <cerrno>
#include <exception>
#include <fstream>
#include <system_error>
#include <utility>

#include "runtime/crypto.hpp"
#include "runtime/metrics.hpp"
#include "storage/artifacts/arriving_file.hpp"
#include "storage/artifacts/comparisons.hpp"
#include "storage/artifacts/limits.hpp"
#include "storage/artifacts/object_files.hpp"
#include "storage/artifacts/uploads.hpp"

namespace herald::storage::artifacts {
namespace {

namespace files = std::filesystem;
using runtime::run_blocking;
using runtime::http::body_stream;

/// 00 to ff: objects are in folders named after the first byte of their digest.
std::vector<std::string> names_of_folders() {
    static constexpr std::string_view digits = "0123456789abcdef";
    std::vector<std::string> names;
    for (const char high : digits)
        for (const char low : digits) names.push_back({high, low});
    return names;
}

class object_stream final : public body_stream {
  public:
    /// `report` is null when the bytes are not compared.
    object_stream(runtime::blocking_pool& pool, std::unique_ptr<open_object> object,
                  std::shared_ptr<verified_objects> report)
        : x_pool(pool), x_from(std::make_shared<source>(std::move(object))), x_report(std::move(report)) {}

    boost::asio::awaitable<result<std::string_view>> next() override {
        if (x_is_at_end) co_return std::string_view();
        if (!x_reading) {
            const auto begun = read_on();
            if (!begun) co_return begun.error();
        }
        const auto read = co_await std::exchange(x_reading, nullptr)->wait();
        if (!read) co_return read.error();
        x_is_at_end = x_from->object->is_at_end();
        if (x_is_at_end && x_report)
            x_report->add(x_from->object->object().object, x_from->object->identity());
        const std::string& piece = x_from->pieces[x_turn];
        x_turn = 1 - x_turn;
        if (!x_is_at_end) {
            const auto begun = read_on();
            if (!begun) co_return begun.error();
        }
        co_return std::string_view(piece);
    }
    bool can_send_to_socket() const noexcept override { return !x_report && !x_reading && !x_is_at_end; }
    boost::asio::awaitable<result<std::size_t>> send_to(int socket, std::uint64_t bytes_max) override {
        const std::size_t at_once = std::min<std::uint64_t>(bytes_max, limits::artifact_sent_at_once_bytes);
        const auto send = [&] { return x_from->object->send(socket, at_once); };
        const auto sent = co_await run_blocking(x_pool, send);
        x_is_at_end = x_from->object->is_at_end();
        co_return sent;
    }

  private:
    struct source {
        explicit source(std::unique_ptr<open_object> opened) : object(std::move(opened)) {}
        const std::unique_ptr<open_object> object;
        std::array<std::string, 2> pieces;
    };

    /// The next piece is read while the one before it is being sent.
    result<void> read_on() {
        const auto read = [from = x_from, turn = x_turn] {
            return from->object->read(from->pieces[turn], limits::artifact_piece_bytes);
        };
        auto started = runtime::started_call<result<void>>::start(x_pool, read);
        if (!started) return started.error();
        x_reading = *std::move(started);
        return {};
    }

    runtime::blocking_pool& x_pool;
    const std::shared_ptr<source> x_from;  // its object is the pool's while x_reading is set
    const std::shared_ptr<verified_objects> x_report;
    std::shared_ptr<runtime::started_call<result<void>>> x_reading;
    std::size_t x_turn = 0;
    bool x_is_at_end = false;
};

/// Reads all of the object; if it matches its digest, `verified` remembers it.
result<void> compare_whole(const files::path& path, const stored_object& object, verified_objects& verified,
                           const std::atomic<bool>& is_unwanted) {
    auto opened = open_object::open(path, object, {0, object.bytes});
    if (!opened) return opened.error();
    open_object& whole = **opened;
    whole.compare();
    std::string piece;
    while (!whole.is_at_end()) {
        if (is_unwanted) return runtime::aborted("nobody waits any more");
        if (const auto read = whole.read(piece, limits::artifact_buffer_bytes); !read) return read;
    }
    verified.add(object.object, whole.identity());
    return {};
}

/// The temporary files of this process. Its lock says that it runs.
class temporary_folder {
  public:
    /// Errors: those of files; aborted when the folder was taken for a dead process's and removed.
    result<void> open(const files::path& all, const std::string& name) {
        x_lock_path = all / (name + ".lock");
        x_folder = all / name;
        x_lock = descriptor(::open(x_lock_path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        if (!x_lock) return failed("cannot create", x_lock_path, errno);
        struct stat info {};
        const bool is_mine = ::flock(x_lock.get(), LOCK_EX | LOCK_NB) == 0 &&
                             ::fstat(x_lock.get(), &info) == 0 && info.st_nlink > 0;
        if (!is_mine) return runtime::aborted({"another process removed ", x_lock_path.native()});
        return make_folder(x_folder);
    }
    ~temporary_folder() {
        if (!x_lock) return;
        std::error_code ignored;
        files::remove_all(x_folder, ignored);
        files::remove(x_lock_path, ignored);
    }
    files::path next() { return x_folder / std::to_string(++x_count); }

  private:
    files::path x_lock_path;
    files::path x_folder;
    descriptor x_lock;
    std::atomic<std::uint64_t> x_count = 0;
};

/// Removes what processes that have ended left behind.
void remove_files_of_the_dead(const files::path& temporary) {
    std::error_code failure;
    for (files::directory_iterator each(temporary, failure), end; !failure && each != end;
         each.increment(failure)) {
        const files::path lock_path = each->path();
        if (lock_path.extension() != ".lock") continue;
        const descriptor lock(::open(lock_path.c_str(), O_RDWR | O_CLOEXEC));
        if (!lock || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) continue;
        std::error_code ignored;
        files::remove_all(files::path(lock_path).replace_extension(), ignored);
        files::remove(lock_path, ignored);
    }
}

/// One upload: what arrives goes into one buffer while the other is written.
struct arrival {
    explicit arrival(files::path path) : file(std::move(path)) {}

    /// Errors: those of the write that is under way, if any.
    task<> written() {
        const auto call = std::exchange(writing, nullptr);
        if (!call) co_return result<void>();
        co_return co_await call->wait();
    }

    arriving_file file;
    std::array<std::string, 2> buffers;
    std::shared_ptr<runtime::started_call<result<void>>> writing;
};

bool are_on_one_disk(const files::path& one, const files::path& other) {
    struct stat first {
    }, second{};
    return ::stat(one.c_str(), &first) == 0 && ::stat(other.c_str(), &second) == 0 &&
           first.st_dev == second.st_dev;
}

/// The free space that uploads leave on their disk.
struct room_kept {
    files::path folder;
    std::uint64_t bytes = 0;

    /// Errors: unavailable when that much is no longer free.
    result<void> check() const {
        struct statvfs disk {};
        if (bytes == 0 || ::statvfs(folder.c_str(), &disk) != 0) return {};
        if (std::uint64_t{disk.f_bavail} * disk.f_frsize >= bytes) return {};
        return runtime::unavailable("the store of artifacts is full: little disk is left");
    }
};

class directory_store final : public artifact_store {
  public:
    directory_store(const files::path& folder, const store_pools& pools, runtime::random_source& random)
        : x_objects(folder / "objects"),
          x_temporary(folder / "temporary"),
          x_owner(folder / "owner"),
          x_pools(pools),
          x_random(random) {}

    result<void> open(const kept_free& free) {
        std::error_code failure;
        files::create_directories(x_objects.parent_path(), failure);
        if (failure) return failed("cannot make", x_objects.parent_path(), failure.value());
        for (const files::path& each : {x_objects, x_temporary})
            if (const auto made = make_folder(each); !made) return made;
        if (const auto made = make_folders_of_objects(); !made) return made;
        remove_files_of_the_dead(x_temporary);
        if (free.bytes > 0 && are_on_one_disk(free.folder, x_objects))
            x_room = {x_objects, free.bytes + limits::artifact_room_kept_bytes};
        // Another process that starts now may take the folder for a dead one's, before it is locked.
        for (int tries = 0;; ++tries) {
            const auto opened =
                x_arriving.open(x_temporary, runtime::to_hex(x_random.bytes(random_bytes_of_name)));
            if (opened || opened.error().code != error_code::aborted || tries == limits::opening_tries_max)
                return opened;
        }
    }

    bool wants_parts() const noexcept override { return false; }
    task<stored_object> put(body_stream&, std::uint64_t bytes_max) override;
    task<std::shared_ptr<body_stream>> read(stored_object, byte_range) override;
    task<bool> has(std::string object) override {
        const files::path path = path_of(object);
        const auto look = [&]() -> result<bool> { return ::access(path.c_str(), F_OK) == 0; };
        co_return co_await run_blocking(x_pools.reading, look);
    }
    task<> erase(std::string object) override {
        const files::path path = path_of(object);
        const auto unlink = [&]() -> result<void> {
            if (::unlink(path.c_str()) != 0 && errno != ENOENT) return failed("cannot erase", path, errno);
            return sync_folder_if_there(path.parent_path());
        };
        co_return co_await run_blocking(x_pools.writing, unlink);
    }
    task<std::vector<listed_object>> list(std::string after) override {
        const auto look = [&] { return listed(after); };
        co_return co_await run_blocking(x_pools.reading, look);
    }
    task<std::optional<store_owner>> owner() override;
    task<> set_owner(store_owner) override;

  private:
    files::path path_of(const std::string& object) const { return x_objects / object.substr(0, 2) / object; }
    static result<void> sync_folder_if_there(const files::path& folder) {
        if (::access(folder.c_str(), F_OK) != 0) return {};
        return sync_folder(folder);
    }
    result<void> make_folders_of_objects() const;
    task<> take(body_stream&, std::uint64_t bytes_max, std::shared_ptr<arrival>);
    task<stored_object> put_into(body_stream&, std::uint64_t bytes_max, std::shared_ptr<arrival>);
    result<void> written_owner(const std::string& text);
    result<std::vector<listed_object>> listed(const std::string& after) const;
    void list_folder(const files::path&, const std::string& after, std::vector<listed_object>&) const;

    const files::path x_objects;
    const files::path x_temporary;
    const files::path x_owner;
    const store_pools x_pools;
    runtime::random_source& x_random;
    temporary_folder x_arriving;
    room_kept x_room;
    std::atomic<std::size_t> x_uploads = 0;
    const std::shared_ptr<verified_objects> x_verified = std::make_shared<verified_objects>();
    comparisons x_comparisons{x_pools.reading, limits::artifact_comparisons_max};
    runtime::counter& x_damaged =
        runtime::metric_counter(runtime::metrics::artifacts_damaged);  // shown from 0 on
};

// All at once, at the start: so that no upload is acknowledged whose folder another one has made and not yet
// synced.
result<void> directory_store::make_folders_of_objects() const {
    for (const std::string& name : names_of_folders())
        if (::mkdir((x_objects / name).c_str(), 0700) != 0 && errno != EEXIST)
            return failed("cannot make", x_objects / name, errno);
    for (const files::path& each : {x_objects, x_objects.parent_path()})
        if (const auto synced = sync_folder(each); !synced) return synced;
    // The store's own entry is in a folder that may belong to somebody else.
    (void)sync_folder(files::absolute(x_objects).parent_path().parent_path());
    return {};
}

task<> directory_store::take(body_stream& body, std::uint64_t bytes_max, std::shared_ptr<arrival> into) {
    std::uint64_t total = 0;
    for (std::size_t turn = 0;;) {
        std::string& buffer = into->buffers[turn];
        const auto piece = co_await body.next();
        if (!piece) co_return piece.error();
        total += piece->size();
        if (total > bytes_max) co_return too_large(bytes_max);
        buffer += *piece;
        const bool is_end = piece->empty();
        if (!is_end && buffer.size() < limits::artifact_buffer_bytes) continue;
        const auto written = co_await into->written();
        if (!written) co_return written;
        const auto write = [room = x_room, into, &buffer]() -> result<void> {
            if (const auto enough = room.check(); !enough) return enough;
            const auto wrote = into->file.write(buffer);
            buffer.clear();
            return wrote;
        };
        auto started = runtime::started_call<result<void>>::start(x_pools.writing, write);
        if (!started) co_return started.error();
        into->writing = *std::move(started);
        if (is_end) break;
        turn = 1 - turn;
    }
    co_return co_await into->written();
}

task<stored_object> directory_store::put(body_stream& body, std::uint64_t bytes_max) {
    upload_place place(x_uploads);
    if (!place.take(limits::artifact_uploads_max))
        co_return runtime::unavailable("too many uploads are under way; try again");
    const auto into = std::make_shared<arrival>(x_arriving.next());
    std::exception_ptr stopped;
    result<stored_object> stored = runtime::aborted("not begun");
    try {
        stored = co_await put_into(body, bytes_max, into);
    } catch (...) {
        stopped = std::current_exception();
    }
    if (stored) co_return stored;
    // Removing gigabytes takes long: never on the loop, also when the server stops.
    co_await boost::asio::this_coro::throw_if_cancelled(false);
    (void)co_await into->written();
    const auto discard = [&]() -> result<void> {
        into->file.discard();
        return {};
    };
    (void)co_await run_blocking(x_pools.writing, discard);
    co_await boost::asio::this_coro::throw_if_cancelled(true);
    if (stopped) std::rethrow_exception(stopped);
    co_return stored;
}

task<stored_object> directory_store::put_into(body_stream& body, std::uint64_t bytes_max,
                                              std::shared_ptr<arrival> into) {
    const auto taken = co_await take(body, bytes_max, into);
    if (!taken) co_return taken.error();
    const std::string random = x_random.bytes(random_bytes_of_name);
    const auto finish = [&] {
        auto stored = into->file.become_object(x_objects, random);
        struct stat info {};
        if (stored && ::stat(path_of(stored->object).c_str(), &info) == 0)
            x_verified->add(stored->object, identity_of(info));
        return stored;
    };
    co_return co_await run_blocking(x_pools.writing, finish);
}

task<std::shared_ptr<body_stream>> directory_store::read(stored_object object, byte_range range) {
    const files::path path = path_of(object.object);
    const auto open = [&] { return open_object::open(path, object, range); };
    auto opened = co_await run_blocking(x_pools.reading, open);
    if (!opened) co_return opened.error();
    open_object& bytes = **opened;
    bool is_known = x_verified->has(object.object, bytes.identity());
    if (!is_known && !bytes.is_whole()) {
        comparisons::work compare = [path, object, verified = x_verified](const std::atomic<bool>& unwanted) {
            return compare_whole(path, object, *verified, unwanted);
        };
        const auto good = co_await x_comparisons.wait_for(object.object, std::move(compare));
        if (!good) co_return good.error();
        is_known = x_verified->has(object.object, bytes.identity());
        if (!is_known) co_return lost_or_damaged(object.object, "they changed while they were compared");
    }
    if (!is_known) bytes.compare();
    std::shared_ptr<verified_objects> report;
    if (!is_known) report = x_verified;
    std::shared_ptr<body_stream> stream =
        std::make_shared<object_stream>(x_pools.reading, *std::move(opened), std::move(report));
    co_return stream;
}

task<std::optional<store_owner>> directory_store::owner() {
    const auto read = [&]() -> result<std::optional<store_owner>> {
        std::ifstream file(x_owner);
        if (!file && errno == ENOENT) return std::optional<store_owner>();
        std::string text(limits::store_owner_bytes_max, '\0');
        file.read(text.data(), static_cast<std::streamsize>(text.size()));
        if (!file.is_open() || file.bad()) return failed("cannot read", x_owner, errno);
        const auto found =
            read_owner(std::string_view(text).substr(0, static_cast<std::size_t>(file.gcount())));
        if (!found) return found.error();
        return std::optional<store_owner>(*found);
    };
    co_return co_await run_blocking(x_pools.reading, read);
}

task<> directory_store::set_owner(store_owner mine) {
    const auto write = [&] { return written_owner(text_of(mine)); };
    co_return co_await run_blocking(x_pools.writing, write);
}

// A first mark is never replaced by another one that comes at the same time: a later look shows which one it
// is.
result<void> directory_store::written_owner(const std::string& text) {
    const files::path fresh = x_arriving.next();
    descriptor file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file) return failed("cannot create", fresh, errno);
    const bool is_whole = ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
    if (!is_whole || ::fsync(file.get()) != 0) return failed("cannot write", fresh, errno);
    const bool is_first = ::access(x_owner.c_str(), F_OK) != 0;
    if (is_first && ::link(fresh.c_str(), x_owner.c_str()) != 0 && errno != EEXIST)
        return failed("cannot make", x_owner, errno);
    if (!is_first && ::rename(fresh.c_str(), x_owner.c_str()) != 0)
        return failed("cannot make", x_owner, errno);
    if (is_first) ::unlink(fresh.c_str());
    return sync_folder(x_owner.parent_path());
}

result<std::vector<listed_object>> directory_store::listed(const std::string& after) const {
    std::vector<listed_object> found;
    for (const std::string& name : names_of_folders()) {
        if (after.substr(0, 2) > name) continue;
        list_folder(x_objects / name, after, found);
        if (found.size() >= limits::listed_objects_max) {
            found.resize(limits::listed_objects_max);
            return found;
        }
    }
    return found;
}

void directory_store::list_folder(const files::path& folder, const std::string& after,
                                  std::vector<listed_object>& found) const {
    std::error_code failure;
    std::vector<std::string> names;
    for (files::directory_iterator each(folder, failure), end; !failure && each != end;
         each.increment(failure))
        if (std::string name = each->path().filename().native(); name > after)
            names.push_back(std::move(name));
    std::sort(names.begin(), names.end());
    for (std::string& name : names) {
        if (found.size() >= limits::listed_objects_max) return;
        struct stat info {};
        auto digest = digest_of(name);
        if (!digest || ::stat((folder / name).c_str(), &info) != 0) continue;
        found.push_back({std::move(name), *std::move(digest), std::int64_t{info.st_mtim.tv_sec} * 1000});
    }
}

}  // namespace

result<std::unique_ptr<artifact_store>> open_directory_store(const files::path& folder,
                                                             const store_pools& pools,
                                                             runtime::random_source& random,
                                                             const kept_free& free) {
    auto store = std::make_unique<directory_store>(folder, pools, random);
    if (const auto opened = store->open(free); !opened)
        return runtime::internal(
            {"the store of artifacts cannot be used: ", folder.native(), ": ", opened.error().message});
    return std::unique_ptr<artifact_store>(std::move(store));
}

}  // namespace herald::storage::artifacts
