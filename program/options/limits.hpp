// The bounds of a process as a whole.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::int64_t drain_answers_ms_max = 500;  // for the answers that remain then
constexpr std::int64_t drain_worker_ms_min = 500;   // for a worker in the same process, after the API node
constexpr std::int64_t start_look_ms_min = 2'000;   // how long a start waits for the brokers' answer at first
constexpr std::int64_t start_look_ms_max = 16'000;
constexpr std::int64_t start_ends_ms_max = 500;  // then a start that was told to end ends as it is
constexpr std::int64_t closed_ms_max = 9'800;    // with all drained, it ends without closing the rest
/// A process that has not ended this long after it was told to ends at once.
constexpr std::int64_t ending_ms_max = 25'000;
constexpr std::uint64_t free_disk_mb_max = 1ull << 40;
constexpr std::uint64_t replication_max = 32;
constexpr std::size_t worker_id_bytes_max = 249;  // Kafka's own bound
constexpr std::size_t options_file_bytes_max = 1024 * 1024;
constexpr std::uint64_t isolation_grace_s_min = 15;  // nodes are in contact for so long after a heartbeat
constexpr std::uint64_t isolation_grace_s_max = 24 * 3'600;
constexpr std::uint64_t models_memory_mb_max = 1ull << 30;
constexpr std::uint64_t request_memory_mb_min = 80;  // the largest body comes in
constexpr std::uint64_t model_mb_max = 1ull << 20;
constexpr std::uint64_t predictions_for_a_log_line = 1'000;

constexpr std::size_t model_threads = 2;  // for loading models, and as many for their files
constexpr std::size_t model_calls_waiting_max = 64;

constexpr int artifact_check_attempts_max = 20;  // at one, while the store has too much to do
constexpr int log_silent_polls_max = 30;         // of a log that has more, each of a second

}  // namespace herald::limits
