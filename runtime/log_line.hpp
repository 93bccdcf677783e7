// A log line whose fields are known only when it is written.
#pragma once

#include <span>

#include "runtime/log.hpp"

namespace herald::runtime {

/// As log() (runtime/log.hpp).
void log_line(log_level, std::string_view event, std::span<const log_field> fields) noexcept;

}  // namespace herald::runtime
