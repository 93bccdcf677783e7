// The process's own log: one JSON object per line on standard error. (The command log is events/log/log.hpp.)
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <variant>

namespace herald::runtime {

enum class log_level : std::uint8_t { debug, info, warning, error };

struct log_field {
    std::string_view name;
    std::variant<std::string_view, std::int64_t, double, bool> value;
};

/// Writes {"time":…,"level":…,"event":<event>,<fields>}. `event` is a name from runtime/log_events.hpp: an
/// interface for operators. Thread-safe; never blocks for long on a slow reader; never throws.
void log(log_level, std::string_view event, std::initializer_list<log_field> fields = {}) noexcept;
/// Lines below this level are dropped; info at start.
void set_log_level(log_level) noexcept;

}  // namespace herald::runtime
