// Files of the store of artifacts: how they are made durable, and the file of bytes that are arriving.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <utility>

#include "runtime/crypto.hpp"
#include "runtime/error.hpp"
#include "storage/artifacts/store.hpp"

namespace herald::storage::artifacts {

/// The error of a failed call on a file: unavailable if more room may help, otherwise internal. The log line
/// has the path; callers do not see it.
error failed(std::string_view what, const std::filesystem::path& where, int why);
/// The same of files of this process that are not in the store: `whose` says to callers, too, what has
/// failed.
error failed_of(std::string_view whose, std::string_view what, const std::filesystem::path& where, int why);

/// An open descriptor, closed at the end.
class descriptor {
  public:
    explicit descriptor(int number = -1) : x_number(number) {}
    ~descriptor() { close(); }
    descriptor(descriptor&& other) noexcept : x_number(std::exchange(other.x_number, -1)) {}
    descriptor& operator=(descriptor&& other) noexcept {
        close();
        x_number = std::exchange(other.x_number, -1);
        return *this;
    }
    explicit operator bool() const noexcept { return x_number >= 0; }
    int get() const noexcept { return x_number; }
    void close() noexcept {
        if (x_number >= 0) ::close(std::exchange(x_number, -1));
    }

  private:
    int x_number;
};

result<void> sync_folder(const std::filesystem::path&);
/// The folder exists afterwards, and will after a loss of power.
result<void> make_folder(const std::filesystem::path&);

/// A file of bytes that are arriving; erased again unless it becomes an object. Used by one call at a time,
/// on the pool's threads.
class arriving_file {
  public:
    explicit arriving_file(std::filesystem::path path) : x_path(std::move(path)) {}
    ~arriving_file() { discard(); }
    arriving_file(const arriving_file&) = delete;
    arriving_file& operator=(const arriving_file&) = delete;

    /// Errors: those of `failed`.
    result<void> write(std::string_view bytes);
    /// Durable under its name, in a folder below `objects`. Errors: those of `failed`.
    result<stored_object> become_object(const std::filesystem::path& objects, std::string_view random);
    void discard() noexcept;

  private:
    const std::filesystem::path x_path;
    descriptor x_file;
    runtime::sha256_stream x_hash;
    std::uint64_t x_bytes = 0;
    std::uint64_t x_flushed = 0;
};

}  // namespace herald::storage::artifacts
