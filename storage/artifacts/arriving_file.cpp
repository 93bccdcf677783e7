#include "storage/artifacts/arriving_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "runtime/files.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "storage/artifacts/limits.hpp"

namespace herald::storage::artifacts {

namespace files = std::filesystem;

namespace {

bool is_full(int why) { return why == ENOSPC || why == EDQUOT; }
bool lacks_resources(int why) { return why == EMFILE || why == ENFILE || why == ENOMEM; }

/// Logs the failure, and returns the error for callers.
std::string told(std::string_view what, const files::path& where, int why) {
    const std::string reason = std::generic_category().message(why);
    runtime::log(runtime::log_level::warning, runtime::log_events::artifact_store_failed,
                 {{"what", what}, {"path", where.native()}, {"reason", reason}});
    return std::string(what) + ": " + reason;
}

}  // namespace

error failed(std::string_view what, const files::path& where, int why) {
    const std::string message = told(what, where, why);
    if (is_full(why)) return runtime::unavailable({"the store of artifacts is full: ", message});
    if (lacks_resources(why))
        return runtime::unavailable({"the store of artifacts lacks resources: ", message});
    return runtime::internal({"the store of artifacts failed: ", message});
}

error failed_of(std::string_view whose, std::string_view what, const files::path& where, int why) {
    const std::string message = std::string(whose) + " failed: " + told(what, where, why);
    if (is_full(why) || lacks_resources(why)) return runtime::unavailable(message);
    return runtime::internal(message);
}

result<void> sync_folder(const files::path& folder) {
    if (const auto why = runtime::make_durable(folder)) return failed("cannot sync", folder, why.value());
    return {};
}

result<void> make_folder(const files::path& folder) {
    if (::mkdir(folder.c_str(), 0700) == 0) return sync_folder(folder.parent_path());
    if (errno == EEXIST) return {};
    return failed("cannot make", folder, errno);
}

result<void> arriving_file::write(std::string_view bytes) {
    if (!x_file) {
        x_file = descriptor(::open(x_path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        if (!x_file) return failed("cannot create", x_path, errno);
    }
    x_hash.add(bytes);
    while (!bytes.empty()) {
        const ssize_t wrote = ::write(x_file.get(), bytes.data(), bytes.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return failed("cannot write", x_path, errno);
        x_bytes += static_cast<std::uint64_t>(wrote);
        bytes.remove_prefix(static_cast<std::size_t>(wrote));
    }
    // The disk begins while more arrives, so that the sync at the end is short.
    if (x_bytes - x_flushed >= limits::artifact_flush_bytes) {
        (void)::sync_file_range(x_file.get(), static_cast<off_t>(x_flushed),
                                static_cast<off_t>(x_bytes - x_flushed), SYNC_FILE_RANGE_WRITE);
        x_flushed = x_bytes;
    }
    return {};
}

result<stored_object> arriving_file::become_object(const files::path& objects, std::string_view random) {
    if (const auto there = write({}); !there) return there.error();  // empty objects are files, too
    if (::fsync(x_file.get()) != 0) return failed("cannot sync", x_path, errno);
    const runtime::sha256_digest digest = x_hash.finish();
    stored_object done{object_name(runtime::as_bytes(digest), random), std::string(runtime::as_bytes(digest)),
                       x_bytes};
    const files::path folder = objects / done.object.substr(0, 2);
    if (const auto made = make_folder(folder); !made) return made.error();
    if (::rename(x_path.c_str(), (folder / done.object).c_str()) != 0)
        return failed("cannot rename", x_path, errno);
    x_file.close();
    if (const auto synced = sync_folder(folder); !synced) {
        ::unlink((folder / done.object).c_str());
        return synced.error();
    }
    return done;
}

void arriving_file::discard() noexcept {
    if (!x_file) return;
    x_file.close();
    ::unlink(x_path.c_str());
}

}  // namespace herald::storage::artifacts
