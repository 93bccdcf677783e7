// The bounds of every log (events/log/log.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::size_t producer_records_unacknowledged_max = 16'384;
constexpr std::size_t producer_bytes_unacknowledged_max = 24 * 1024 * 1024;
constexpr std::size_t commit_metadata_bytes_max = 1'024;
constexpr std::size_t member_poll_bytes_max = 1024 * 1024;  // of records; includes the one that reaches it
constexpr std::size_t record_bytes_max = 2 * 1024 * 1024;
constexpr std::int64_t recall_ms_max = 5'000;  // for a member to let a partition go that its group wants back
constexpr std::size_t tail_records_per_poll_max = 1'000;

}  // namespace herald::limits
