// The bounds of the console.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::int64_t console_session_seconds = 12 * 60 * 60;
constexpr std::size_t browser_name_bytes_max = 64;
constexpr std::size_t sign_in_codes_max = 16;
constexpr std::int64_t sign_in_code_ms_max = 10 * 60 * 1'000;
constexpr std::size_t console_asset_bytes_max = 4 * 1024 * 1024;  // inflated

}  // namespace herald::limits
