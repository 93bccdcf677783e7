// The bounds of deployment calls.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::int64_t confirmation_ms_max = 5'000;  // of the wait for all nodes' confirmations
constexpr std::size_t scan_history_max = 100;
constexpr std::int64_t served_endpoints_of_page_max = 100;
constexpr std::int64_t example_elements_max = 64;               // of an input that is written out
constexpr std::int64_t token_end_ms_max = 253'402'300'799'999;  // the end of the year 9999

}  // namespace herald::limits
