#include "api/serving/model_cache/model_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include "runtime/crypto.hpp"
#include "runtime/mutex.hpp"
#include "storage/artifacts/arriving_file.hpp"

namespace herald::api::serving::model_cache {
namespace {

namespace fs = std::filesystem;
using runtime::run_blocking;
using storage::artifacts::descriptor;
using storage::artifacts::stored_object;

constexpr std::string_view arriving = ".part";

error failed_in(const fs::path& folder, std::string_view what, const fs::path& where, int why) {
    return storage::artifacts::failed_of("the copies of models in " + folder.native(), what, where, why);
}

error failed(std::string_view what, const fs::path& file, int why) {
    return failed_in(file.parent_path(), what, file, why);
}

std::uint64_t bytes_of_parts(const std::vector<stored_object>& parts) {
    std::uint64_t sum = 0;
    for (const stored_object& each : parts) sum += each.bytes;
    return sum;
}

/// Whether the next bytes of the file are the part's.
result<bool> has_part(const descriptor& file, const fs::path& path, const stored_object& part,
                      std::string& buffer) {
    runtime::sha256_stream hash;
    for (std::uint64_t left = part.bytes; left > 0;) {
        const std::size_t most = std::min<std::uint64_t>(left, buffer.size());
        const ssize_t came = ::read(file.get(), buffer.data(), most);
        if (came < 0 && errno == EINTR) continue;
        if (came < 0) return failed("read", path, errno);
        if (came == 0) return false;
        hash.add(std::string_view(buffer).substr(0, static_cast<std::size_t>(came)));
        left -= static_cast<std::uint64_t>(came);
    }
    const auto digest = hash.finish();
    return part.digest == runtime::as_bytes(digest);
}

/// Whether the file is there and holds these parts and no more.
result<bool> is_whole(const fs::path& path, const std::vector<stored_object>& parts) {
    const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file && errno == ENOENT) return false;
    if (!file) return failed("open", path, errno);
    std::string buffer(limits::cached_model_read_bytes, '\0');
    for (const stored_object& each : parts) {
        const auto good = has_part(file, path, each, buffer);
        if (!good || !*good) return good;
    }
    const ssize_t more = ::read(file.get(), buffer.data(), 1);
    if (more < 0) return failed("read", path, errno);
    return more == 0;
}

result<void> write_all(const descriptor& file, const fs::path& path, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t gone = ::write(file.get(), bytes.data(), bytes.size());
        if (gone < 0 && errno == EINTR) continue;
        if (gone < 0) return failed("write", path, errno);
        bytes.remove_prefix(static_cast<std::size_t>(gone));
    }
    return {};
}

}  // namespace

std::string name_of(const std::vector<stored_object>& parts) {
    std::string digests;
    for (const stored_object& each : parts) digests += each.digest;
    if (parts.size() == 1) return runtime::to_hex(digests);
    const auto all = runtime::sha256(digests);
    return runtime::to_hex(runtime::as_bytes(all)) + "-" + std::to_string(parts.size());
}

/// What is in the folder, and who holds it. Thread-safe; its calls wait for the disk.
class model_cache::shelf : public std::enable_shared_from_this<model_cache::shelf> {
  public:
    using names = std::set<std::string>;
    shelf(fs::path folder, const bounds& most) : x_folder(std::move(folder)), x_bounds(most) {}

    result<void> begin();
    /// Takes room for a copy that is there or will be, and holds it: nothing else may take its place.
    /// Errors: those of make_room.
    result<std::shared_ptr<const held_model>> hold(const std::string& name, std::uint64_t bytes);
    class arrival;
    /// Takes room on the disk for a file that begins to arrive, beside the others that do. Errors:
    /// unavailable.
    result<std::shared_ptr<arrival>> expect(const std::string& name, std::uint64_t bytes);
    /// As those of the cache.
    bool is_disk_low() const;
    void make_disk_room(const names& needed);
    names unheld() const;
    void drop(const names&);
    fs::path path_of(const std::string& name) const { return x_folder / name; }
    std::uint64_t bytes() const {
        const runtime::lock_guard lock(x_mutex);
        return x_bytes;
    }

  private:
    struct copy {
        std::uint64_t bytes = 0;
        std::size_t holders = 0;
        std::uint64_t used = 0;  // the greater, the later
    };
    class holder;
    void release(const std::string& name);
    result<void> make_room(std::uint64_t bytes) REQUIRES(x_mutex);
    bool keeps_to_bounds(std::uint64_t bytes, std::size_t models) const;
    bool has_disk_room(std::uint64_t bytes, std::uint64_t freed) const REQUIRES(x_mutex);
    result<void> make_disk_room_for(std::uint64_t bytes) REQUIRES(x_mutex);
    bool let_oldest_go(const names& needed = {}) REQUIRES(x_mutex);
    bool is_low() const REQUIRES(x_mutex) {
        return !has_disk_room(x_bounds.disk_free_bytes_min / limits::copies_reserve_divisor, 0);
    }
    using copies = std::map<std::string, copy>;
    copies::iterator erase(copies::iterator) REQUIRES(x_mutex);
    void has_arrived(std::uint64_t bytes) {
        const runtime::lock_guard lock(x_mutex);
        x_expected_bytes -= bytes;
    }

    const fs::path x_folder;
    const bounds x_bounds;
    mutable runtime::mutex x_mutex;
    copies x_copies GUARDED_BY(x_mutex);
    std::uint64_t x_bytes GUARDED_BY(x_mutex) = 0;
    std::uint64_t x_uses GUARDED_BY(x_mutex) = 0;
    std::uint64_t x_arrivals GUARDED_BY(x_mutex) = 0;
    std::uint64_t x_expected_bytes GUARDED_BY(x_mutex) = 0;  // that arrivals have still to write
};

class model_cache::shelf::holder final : public held_model {
  public:
    holder(std::shared_ptr<shelf> of, std::string name)
        : x_shelf(std::move(of)), x_name(std::move(name)), x_file(x_shelf->path_of(x_name)) {}
    ~holder() override { x_shelf->release(x_name); }
    holder(const holder&) = delete;
    holder& operator=(const holder&) = delete;
    const fs::path& file() const noexcept override { return x_file; }

  private:
    const std::shared_ptr<shelf> x_shelf;
    const std::string x_name;
    const fs::path x_file;
};

/// A copy that is arriving; its file goes again unless it was kept. One thread at a time.
class model_cache::shelf::arrival {
  public:
    arrival(std::shared_ptr<shelf> of, fs::path path, std::uint64_t bytes)
        : x_shelf(std::move(of)), x_path(std::move(path)), x_expected_bytes(bytes) {}
    ~arrival() {
        if (x_file) ::unlink(x_path.c_str());
        x_shelf->has_arrived(x_expected_bytes);
    }
    arrival(const arrival&) = delete;
    arrival& operator=(const arrival&) = delete;

    result<void> write(std::string_view bytes) {
        if (!x_file)
            x_file = descriptor(::open(x_path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        if (!x_file) return failed("make", x_path, errno);
        const auto written = write_all(x_file, x_path, bytes);
        if (!written) return written;
        const std::uint64_t came = std::min<std::uint64_t>(bytes.size(), x_expected_bytes);
        x_expected_bytes -= came;
        x_shelf->has_arrived(came);
        return {};
    }
    /// Nothing is synced: a copy is compared before it is used.
    result<void> become(const fs::path& name) {
        if (::rename(x_path.c_str(), name.c_str()) != 0) return failed("rename", x_path, errno);
        x_file.close();
        return {};
    }

  private:
    const std::shared_ptr<shelf> x_shelf;
    const fs::path x_path;
    descriptor x_file;
    std::uint64_t x_expected_bytes;
};

result<void> model_cache::shelf::begin() {
    if (::mkdir(x_folder.c_str(), 0700) != 0 && errno != EEXIST)
        return failed_in(x_folder, "make", x_folder, errno);
    std::error_code wrong;
    std::vector<std::pair<fs::file_time_type, fs::path>> found;
    for (fs::directory_iterator each(x_folder, wrong), end; !wrong && each != end; each.increment(wrong)) {
        std::error_code ignored;
        if (each->path().extension() == arriving)
            fs::remove(each->path(), ignored);
        else if (each->is_regular_file(ignored))
            found.emplace_back(each->last_write_time(ignored), each->path());
    }
    if (wrong) return failed_in(x_folder, "list", x_folder, wrong.value());
    std::sort(found.begin(), found.end());
    const runtime::lock_guard lock(x_mutex);
    for (const auto& [time, path] : found) {
        std::error_code gone;
        const std::uint64_t bytes = fs::file_size(path, gone);
        if (gone) continue;
        x_copies[path.filename().string()] = {bytes, 0, ++x_uses};
        x_bytes += bytes;
    }
    // Not for the sake of the disk: nobody holds a copy yet, and what is served would have to be fetched
    // again onto the same full disk.
    while (!keeps_to_bounds(x_bytes, x_copies.size()) && let_oldest_go()) {
    }
    return {};
}

bool model_cache::shelf::keeps_to_bounds(std::uint64_t bytes, std::size_t models) const {
    return bytes <= x_bounds.bytes_max && models <= x_bounds.models_max;
}

/// Whether so many more may come to the disk, behind those that are expected, once others are gone from it.
bool model_cache::shelf::has_disk_room(std::uint64_t bytes, std::uint64_t freed) const {
    if (x_bounds.disk_free_bytes_min == 0) return true;
    std::error_code unknown;
    const auto disk = fs::space(x_folder, unknown);
    if (unknown) return true;
    const std::uint64_t available = disk.available + freed;
    const std::uint64_t needed = bytes + x_expected_bytes;
    return available >= needed && available - needed >= x_bounds.disk_free_bytes_min;
}

/// Errors: unavailable, when all that nobody holds would not make enough room; then none of it goes.
result<void> model_cache::shelf::make_disk_room_for(std::uint64_t bytes) {
    std::uint64_t unheld_bytes = 0;
    for (const auto& [name, each] : x_copies)
        if (each.holders == 0) unheld_bytes += each.bytes;
    bool is_enough = has_disk_room(bytes, unheld_bytes);
    while (is_enough && !has_disk_room(bytes, 0)) is_enough = let_oldest_go();
    if (is_enough) return {};
    return runtime::unavailable({"the disk has no room for a copy of the model of ", bytes,
                                 " bytes: ", x_bounds.disk_free_bytes_min, " must stay free"});
}

/// For one copy more. Unless all that nobody holds would make enough room, none of it goes. Errors:
/// unavailable, since what is held or fills the disk may go; invalid_argument beyond the bound.
result<void> model_cache::shelf::make_room(std::uint64_t bytes) {
    if (bytes > x_bounds.bytes_max)
        return runtime::invalid_argument(
            {"the model has ", bytes, " bytes; the disk cache of models takes at most ", x_bounds.bytes_max});
    std::uint64_t held_bytes = 0;
    std::size_t held = 0;
    for (const auto& [name, each] : x_copies) {
        if (each.holders == 0) continue;
        held_bytes += each.bytes;
        ++held;
    }
    if (!keeps_to_bounds(held_bytes + bytes, held + 1))
        return runtime::unavailable({"the disk cache of models has no room for ", bytes,
                                     " bytes: models in use take ", held_bytes, " of ", x_bounds.bytes_max});
    if (const auto made = make_disk_room_for(bytes); !made) return made;
    while (!keeps_to_bounds(x_bytes + bytes, x_copies.size() + 1) && let_oldest_go()) {
    }
    return {};
}

/// False when every copy is held or needed.
bool model_cache::shelf::let_oldest_go(const names& needed) {
    auto oldest = x_copies.end();
    for (auto each = x_copies.begin(); each != x_copies.end(); ++each)
        if (each->second.holders == 0 && !needed.contains(each->first) &&
            (oldest == x_copies.end() || each->second.used < oldest->second.used))
            oldest = each;
    if (oldest == x_copies.end()) return false;
    erase(oldest);
    return true;
}

model_cache::shelf::copies::iterator model_cache::shelf::erase(copies::iterator which) {
    ::unlink(path_of(which->first).c_str());
    x_bytes -= which->second.bytes;
    return x_copies.erase(which);
}

bool model_cache::shelf::is_disk_low() const {
    const runtime::lock_guard lock(x_mutex);
    return is_low();
}

void model_cache::shelf::make_disk_room(const names& needed) {
    const runtime::lock_guard lock(x_mutex);
    while (is_low() && let_oldest_go(needed)) {
    }
}

model_cache::shelf::names model_cache::shelf::unheld() const {
    const runtime::lock_guard lock(x_mutex);
    names out;
    for (const auto& [name, each] : x_copies)
        if (each.holders == 0) out.insert(name);
    return out;
}

void model_cache::shelf::drop(const names& which) {
    const runtime::lock_guard lock(x_mutex);
    for (auto each = x_copies.begin(); each != x_copies.end();)
        each = each->second.holders == 0 && which.contains(each->first) ? erase(each) : std::next(each);
}

result<std::shared_ptr<const held_model>> model_cache::shelf::hold(const std::string& name,
                                                                   std::uint64_t bytes) {
    {
        const runtime::lock_guard lock(x_mutex);
        const auto found = x_copies.find(name);
        // A damaged copy may have another length than the one that takes its place.
        if (found != x_copies.end() && found->second.bytes != bytes && found->second.holders == 0)
            erase(found);
        if (!x_copies.contains(name)) {
            if (const auto made = make_room(bytes); !made) return made.error();
            x_copies[name].bytes = bytes;
            x_bytes += bytes;
        }
        copy& mine = x_copies[name];
        ++mine.holders;
        mine.used = ++x_uses;
    }
    std::shared_ptr<const held_model> held = std::make_shared<holder>(shared_from_this(), name);
    return held;
}

result<std::shared_ptr<model_cache::shelf::arrival>> model_cache::shelf::expect(const std::string& name,
                                                                                std::uint64_t bytes) {
    fs::path path;
    {
        const runtime::lock_guard lock(x_mutex);
        // Also where hold() has made it: since then another one may have begun to arrive.
        if (const auto made = make_disk_room_for(bytes); !made) return made.error();
        path = x_folder / (name + "." + std::to_string(++x_arrivals) + std::string(arriving));
        x_expected_bytes += bytes;
    }
    return std::make_shared<arrival>(shared_from_this(), std::move(path), bytes);
}

void model_cache::shelf::release(const std::string& name) {
    const runtime::lock_guard lock(x_mutex);
    const auto found = x_copies.find(name);
    --found->second.holders;
    found->second.used = ++x_uses;
    // One that did not arrive takes no room.
    if (found->second.holders == 0 && ::access(path_of(name).c_str(), F_OK) != 0) {
        x_bytes -= found->second.bytes;
        x_copies.erase(found);
    }
}

model_cache::model_cache(std::shared_ptr<shelf> copies, const parts& with)
    : x_shelf(std::move(copies)), x_with(with) {}
model_cache::~model_cache() = default;

result<std::unique_ptr<model_cache>> model_cache::open(const fs::path& folder, const parts& with,
                                                       const bounds& most) {
    auto made = std::make_shared<shelf>(folder, most);
    if (const auto good = made->begin(); !good) return good.error();
    return std::unique_ptr<model_cache>(new model_cache(std::move(made), with));
}

std::uint64_t model_cache::bytes() const noexcept { return x_shelf->bytes(); }
bool model_cache::is_disk_low() const { return x_shelf->is_disk_low(); }
void model_cache::make_disk_room(const std::set<std::string>& needed) { x_shelf->make_disk_room(needed); }
std::set<std::string> model_cache::unheld() const { return x_shelf->unheld(); }
void model_cache::drop(const std::set<std::string>& names) { x_shelf->drop(names); }

storage::artifacts::task<std::shared_ptr<const held_model>> model_cache::get(
    std::vector<stored_object> wanted) {
    const std::string name = name_of(wanted);
    const std::uint64_t bytes = bytes_of_parts(wanted);
    const auto take = [&] { return x_shelf->hold(name, bytes); };
    auto held = co_await run_blocking(x_with.disk, take);
    if (!held) co_return held.error();
    const fs::path file = (*held)->file();
    const auto compare = [&] { return is_whole(file, wanted); };
    const auto whole = co_await run_blocking(x_with.disk, compare);
    if (whole && *whole) co_return *std::move(held);
    if (!whole) {
        // What only this process cannot read now may be whole.
        if (whole.error().code == error_code::unavailable) co_return whole.error();
        // What cannot be read is as good as damaged: another copy takes its place.
        const auto drop = [&]() -> result<void> {
            std::error_code wrong;
            fs::remove_all(file, wrong);
            if (wrong) return failed("remove", file, wrong.value());
            return {};
        };
        const auto dropped = co_await run_blocking(x_with.disk, drop);
        if (!dropped) co_return dropped.error();
    }
    const auto expect = [&] { return x_shelf->expect(name, bytes); };
    const auto arriving_copy = co_await run_blocking(x_with.disk, expect);
    if (!arriving_copy) co_return arriving_copy.error();
    const storage::artifacts::byte_range all{0, bytes};
    auto stream = co_await storage::artifacts::read_joined(x_with.artifacts, wanted, all);
    if (!stream) co_return stream.error();
    while (true) {
        const auto piece = co_await (*stream)->next();
        if (!piece) co_return piece.error();
        const auto keep = [&] { return (*arriving_copy)->write(*piece); };
        const auto kept = co_await run_blocking(x_with.disk, keep);
        if (!kept) co_return kept.error();
        if (piece->empty()) break;
    }
    const auto finish = [&] { return (*arriving_copy)->become(file); };
    const auto finished = co_await run_blocking(x_with.disk, finish);
    if (!finished) co_return finished.error();
    // What the store sent was compared there; this tells of a disk that does not keep what it was given.
    const auto arrived = co_await run_blocking(x_with.disk, compare);
    if (!arrived) co_return arrived.error();
    if (!*arrived) co_return runtime::internal("the model's copy on this node's disk is damaged");
    co_return *std::move(held);
}

}  // namespace herald::api::serving::model_cache
