#include "storage/rocks/rocks.hpp"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <string_view>
#include <system_error>

#include "runtime/log.hpp"
#include "runtime/log_events.hpp"

namespace herald::storage::rocks {
namespace {

class process_logger final : public rocksdb::Logger {
  public:
    process_logger() : rocksdb::Logger(rocksdb::InfoLogLevel::WARN_LEVEL) {}

    using rocksdb::Logger::Logv;
    void Logv(const rocksdb::InfoLogLevel level, const char* format, va_list arguments) override {
        // Above errors come "header" lines: the options, at each start.
        if (level < rocksdb::InfoLogLevel::WARN_LEVEL || level > rocksdb::InfoLogLevel::FATAL_LEVEL) return;
        std::array<char, 1024> text;
        const int length = std::vsnprintf(text.data(), text.size(), format, arguments);
        if (length < 0) return;
        const bool is_warning = level == rocksdb::InfoLogLevel::WARN_LEVEL;
        runtime::log(is_warning ? runtime::log_level::warning : runtime::log_level::error,
                     runtime::log_events::rocksdb_message, {{"message", std::string_view(text.data())}});
    }
    /// Lines without a level are unimportant.
    void Logv(const char*, va_list) override {}
};

/// RocksDB asks for the free space only to decide when to resume.
class files_of_unknown_room final : public rocksdb::FileSystemWrapper {
  public:
    files_of_unknown_room() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
    const char* Name() const override { return "herald"; }
    rocksdb::IOStatus GetFreeSpace(const std::string&, const rocksdb::IOOptions&, std::uint64_t*,
                                   rocksdb::IODebugContext*) override {
        return rocksdb::IOStatus::NotSupported("not told");
    }
};

}  // namespace

rocksdb::Env* env_without_resumption() {
    static rocksdb::Env* const env =
        rocksdb::NewCompositeEnv(std::make_shared<files_of_unknown_room>()).release();
    return env;
}

bool has_room(const std::filesystem::path& folder, std::uint64_t bytes) {
    std::error_code failure;
    const std::filesystem::space_info space = std::filesystem::space(folder, failure);
    return !failure && space.available >= bytes;
}

std::uint64_t room_to_open(const std::filesystem::path& folder, double share) {
    std::error_code ended;
    std::uintmax_t logs = 0;
    for (std::filesystem::recursive_directory_iterator each(folder.parent_path(), ended), end;
         !ended && each != end; each.increment(ended)) {
        if (each.depth() > 0) each.disable_recursion_pending();
        std::error_code gone;
        const std::uintmax_t bytes = each->path().extension() == ".log" ? each->file_size(gone) : 0;
        if (!gone) logs += bytes;
    }
    const auto tables = static_cast<std::uint64_t>(static_cast<double>(logs) * share);
    return std::min(tables + limits::rocks_room_beside_bytes, limits::rocks_room_bytes_min);
}

std::shared_ptr<rocksdb::Logger> make_rocks_logger() { return std::make_shared<process_logger>(); }

}  // namespace herald::storage::rocks
