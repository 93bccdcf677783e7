#include "storage/artifacts/object_files.hpp"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "runtime/crypto.hpp"

namespace herald::storage::artifacts {

namespace files = std::filesystem;

namespace {

std::int64_t ns_of(const timespec& time) noexcept {
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

file_identity identity_of(const struct stat& of) noexcept {
    return {of.st_ino, ns_of(of.st_ctim), ns_of(of.st_mtim), of.st_nlink};
}

bool verified_objects::has(const std::string& object, const file_identity& seen) {
    const runtime::lock_guard lock(x_mutex);
    const auto found = x_by_object.find(object);
    if (found == x_by_object.end() || found->second->file != seen) return false;
    x_entries.splice(x_entries.begin(), x_entries, found->second);
    return true;
}

void verified_objects::add(const std::string& object, const file_identity& seen) {
    const runtime::lock_guard lock(x_mutex);
    if (const auto old = x_by_object.find(object); old != x_by_object.end()) {
        x_entries.erase(old->second);
        x_by_object.erase(old);
    }
    x_entries.push_front({object, seen});
    x_by_object[object] = x_entries.begin();
    if (x_entries.size() <= x_objects_max) return;
    x_by_object.erase(x_entries.back().object);
    x_entries.pop_back();
}

result<std::unique_ptr<open_object>> open_object::open(const files::path& path, const stored_object& object,
                                                       byte_range range) {
    descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file && errno == ENOENT) return lost_or_damaged(object.object, "they are not there");
    struct stat info {};
    if (!file || ::fstat(file.get(), &info) != 0) return failed("cannot open", path, errno);
    if (static_cast<std::uint64_t>(info.st_size) != object.bytes)
        return lost_or_damaged(object.object, "there are " + std::to_string(info.st_size) + " bytes, and " +
                                                  std::to_string(object.bytes) + " were stored");
    (void)::posix_fadvise(file.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
    return std::unique_ptr<open_object>(
        new open_object(std::move(file), path, object, range, identity_of(info)));
}

/// So that a change during a long download is found, before its end goes out.
result<void> open_object::check_unchanged() const {
    struct stat info {};
    if (::fstat(x_file.get(), &info) != 0) return failed("cannot read", x_path, errno);
    const file_identity now = identity_of(info);
    const bool has_other_names = now.names != x_identity.names;
    if (now.modified_ns == x_identity.modified_ns &&
        (now.changed_ns == x_identity.changed_ns || has_other_names))
        return {};
    return lost_or_damaged(x_object.object, "they were changed while they were read");
}

result<void> open_object::read(std::string& into, std::size_t bytes_max) {
    into.resize(std::min<std::uint64_t>(bytes_max, x_end - x_at));
    std::size_t have = 0;
    while (have < into.size()) {
        const ssize_t got =
            ::pread(x_file.get(), into.data() + have, into.size() - have, static_cast<off_t>(x_at + have));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failed("cannot read", x_path, errno);
        if (got == 0) return lost_or_damaged(x_object.object, "they end before those that were stored do");
        have += static_cast<std::size_t>(got);
    }
    x_at += have;
    if (into.empty()) return {};
    if (!x_hash) return check_unchanged();
    x_hash->add(into);
    if (x_at == x_end && runtime::as_bytes(x_hash->finish()) != x_object.digest)
        return lost_or_damaged(x_object.object, "they are no longer what was stored");
    return {};
}

result<std::size_t> open_object::send(int socket, std::size_t bytes_max) {
    if (const auto unchanged = check_unchanged(); !unchanged) return unchanged.error();
    auto at = static_cast<off_t>(x_at);
    const std::size_t wanted = std::min<std::uint64_t>(bytes_max, x_end - x_at);
    const ssize_t sent = ::sendfile(socket, x_file.get(), &at, wanted);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return std::size_t{0};
    if (sent < 0 && (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN || errno == ETIMEDOUT))
        return runtime::aborted("the peer is gone");
    if (sent < 0) return failed("cannot read", x_path, errno);
    if (sent == 0 && wanted > 0)
        return lost_or_damaged(x_object.object, "they end before those that were stored do");
    x_at += static_cast<std::uint64_t>(sent);
    return static_cast<std::size_t>(sent);
}

}  // namespace herald::storage::artifacts
