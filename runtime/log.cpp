#include "runtime/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cmath>
#include <cstdio>
#include <string>

#include "runtime/clock.hpp"
#include "runtime/log_line.hpp"
#include "runtime/text.hpp"

namespace herald::runtime {
namespace {

spdlog::logger& sink() {
    static const auto the_logger = [] {
        auto logger =
            std::make_shared<spdlog::logger>("herald", std::make_shared<spdlog::sinks::stderr_sink_mt>());
        logger->set_pattern("%v");
        logger->set_level(spdlog::level::info);
        return logger;
    }();
    return *the_logger;
}

spdlog::level::level_enum to_spdlog(log_level level) noexcept {
    switch (level) {
        case log_level::debug:
            return spdlog::level::debug;
        case log_level::info:
            return spdlog::level::info;
        case log_level::warning:
            return spdlog::level::warn;
        case log_level::error:
            break;
    }
    return spdlog::level::err;
}

std::string_view name_of(log_level level) noexcept {
    switch (level) {
        case log_level::debug:
            return "debug";
        case log_level::info:
            return "info";
        case log_level::warning:
            return "warning";
        case log_level::error:
            break;
    }
    return "error";
}

struct value_writer {
    std::string& out;
    void operator()(std::string_view text) const { append_json_string(out, text); }
    void operator()(std::int64_t number) const { out += std::to_string(number); }
    void operator()(double number) const { out += std::isfinite(number) ? std::to_string(number) : "null"; }
    void operator()(bool flag) const { out += flag ? "true" : "false"; }
};

}  // namespace

void log(log_level level, std::string_view event, std::initializer_list<log_field> fields) noexcept {
    log_line(level, event, {fields.begin(), fields.size()});
}

void log_line(log_level level, std::string_view event, std::span<const log_field> fields) noexcept try {
    if (!sink().should_log(to_spdlog(level))) return;
    std::string line = "{\"time\":";
    append_json_string(line, iso8601_ms(system_clock().wall_ms()));
    line += ",\"level\":";
    append_json_string(line, name_of(level));
    line += ",\"event\":";
    append_json_string(line, event);
    for (const log_field& field : fields) {
        line += ',';
        append_json_string(line, field.name);
        line += ':';
        std::visit(value_writer{line}, field.value);
    }
    line += '}';
    sink().log(to_spdlog(level), line);
} catch (...) {
    std::fputs("herald: a log line was lost\n", stderr);
}

void set_log_level(log_level level) noexcept { sink().set_level(to_spdlog(level)); }

}  // namespace herald::runtime
