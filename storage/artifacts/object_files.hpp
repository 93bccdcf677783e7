// Objects that are files: reading them, and remembering which of them hold what was stored.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "runtime/mutex.hpp"
#include "storage/artifacts/arriving_file.hpp"
#include "storage/artifacts/limits.hpp"

namespace herald::storage::artifacts {

/// Which file it is, and since when it has not been changed. A writer can set the time of modification; the
/// time of change also moves when the file gets or loses a name.
struct file_identity {
    ino_t number = 0;
    std::int64_t changed_ns = 0;
    std::int64_t modified_ns = 0;
    nlink_t names = 0;
    bool operator==(const file_identity&) const = default;
};
file_identity identity_of(const struct stat&) noexcept;

/// Which objects this process has compared with their digests, or stored itself; of too many, those that were
/// asked for last.
/// Thread-safe.
class verified_objects {
  public:
    explicit verified_objects(std::size_t objects_max = limits::verified_objects_max)
        : x_objects_max(objects_max) {}

    bool has(const std::string& object, const file_identity& seen);
    void add(const std::string& object, const file_identity& seen);

  private:
    struct entry {
        std::string object;
        file_identity file;
    };
    const std::size_t x_objects_max;
    runtime::mutex x_mutex;
    std::list<entry> x_entries GUARDED_BY(x_mutex);  // the newest first
    std::map<std::string, std::list<entry>::iterator> x_by_object GUARDED_BY(x_mutex);
};

/// An object that is being read. Used by one call at a time, on the pool's threads.
class open_object {
  public:
    /// Errors: lost_or_damaged when it is not there or has another length; those of `failed`.
    static result<std::unique_ptr<open_object>> open(const std::filesystem::path&, const stored_object&,
                                                     byte_range);

    bool is_whole() const noexcept { return x_at == 0 && x_end == x_object.bytes; }
    bool is_at_end() const noexcept { return x_at == x_end; }
    const stored_object& object() const noexcept { return x_object; }
    const file_identity& identity() const noexcept { return x_identity; }

    /// From here on the bytes that are read are compared with the digest.
    void compare() { x_hash = std::make_unique<runtime::sha256_stream>(); }

    /// Replaces `into` with the next bytes, at most so many; none at the end. Errors: lost_or_damaged when
    /// the object ends early, or these are the last bytes and do not match the digest, or it is not compared
    /// and was changed since it was opened; those of `failed`.
    result<void> read(std::string& into, std::size_t bytes_max);
    /// Sends the next bytes, at most so many, without reading them; only for objects that need no comparison.
    /// The process must ignore SIGPIPE. Returns how many the socket took; 0 when it takes none now. Errors:
    /// aborted when the peer is gone; else as read().
    result<std::size_t> send(int socket, std::size_t bytes_max);

  private:
    result<void> check_unchanged() const;
    open_object(descriptor file, const std::filesystem::path& path, const stored_object& object,
                byte_range range, file_identity identity)
        : x_file(std::move(file)),
          x_path(path),
          x_object(object),
          x_at(range.offset),
          x_end(range.offset + range.bytes),
          x_identity(identity) {}

    const descriptor x_file;
    const std::filesystem::path x_path;
    const stored_object x_object;
    std::uint64_t x_at;
    const std::uint64_t x_end;
    const file_identity x_identity;
    std::unique_ptr<runtime::sha256_stream> x_hash;
};

}  // namespace herald::storage::artifacts
