// The bounds of a process as a whole.
#pragma once

#include <cstdint>

namespace herald::limits {

constexpr std::int64_t drain_answers_ms_max = 500;  // for the answers that remain then
constexpr std::int64_t drain_worker_ms_min = 500;   // for a worker in the same process, after the API node
/// A process that has not ended this long after it was told to ends at once.
constexpr std::int64_t ending_ms_max = 25'000;
constexpr std::uint64_t free_disk_mb_max = 1ull << 40;
constexpr std::uint64_t replication_max = 32;

constexpr int artifact_check_attempts_max = 20;  // at one, while the store has too much to do
constexpr int log_silent_polls_max = 30;         // of a log that has more, each of a second

}  // namespace herald::limits
