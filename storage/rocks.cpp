#include "storage/rocks.hpp"

#include <rocksdb/env.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <string_view>

#include "runtime/log.hpp"
#include "runtime/log_events.hpp"

namespace herald::storage {
namespace {

class process_logger final : public rocksdb::Logger {
  public:
    process_logger() : rocksdb::Logger(rocksdb::InfoLogLevel::WARN_LEVEL) {}

    using rocksdb::Logger::Logv;
    void Logv(const rocksdb::InfoLogLevel level, const char* format, va_list arguments) override {
        // Above errors are "header" lines: the options, at each start.
        if (level < rocksdb::InfoLogLevel::WARN_LEVEL || level > rocksdb::InfoLogLevel::FATAL_LEVEL) return;
        std::array<char, 1024> text;
        const int length = std::vsnprintf(text.data(), text.size(), format, arguments);
        if (length < 0) return;
        const bool is_warning = level == rocksdb::InfoLogLevel::WARN_LEVEL;
        runtime::log(is_warning ? runtime::log_level::warning : runtime::log_level::error,
                     runtime::log_events::rocksdb_message, {{"message", std::string_view(text.data())}});
    }
    /// Lines without a level are of no weight.
    void Logv(const char*, va_list) override {}
};

}  // namespace

std::shared_ptr<rocksdb::Logger> make_rocks_logger() { return std::make_shared<process_logger>(); }

}  // namespace herald::storage
