// The bounds of a node (design.md §1).
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::int64_t drain_commands_ms_max = 1'500;  // for commands, once the server has drained
constexpr std::int64_t outcome_wait_ms_max = 30'000;
constexpr std::int64_t genesis_wait_ms_max = 30'000;  // for the log's first record
constexpr std::size_t commands_in_flight_max = 4'096;
constexpr std::size_t apply_records_max = 1'000;                        // per read
constexpr std::size_t apply_batch_bytes_max = 4 * 1024 * 1024;          // of records, per write
constexpr std::size_t apply_batch_change_bytes_max = 32 * 1024 * 1024;  // of what they change
constexpr std::size_t apply_batch_rows_max = 100'000;
constexpr std::size_t records_opened_ahead_min = 64;  // fewer are not worth another thread
constexpr std::int64_t log_end_ms_max = 5'000;        // by then the newest applied record must be read again
constexpr std::int64_t append_repeat_ms_base = 100;   // after an append of unknown outcome, doubling
constexpr std::int64_t append_repeat_ms_max = 2'000;
constexpr std::int64_t heartbeat_interval_ms = 2'000;
constexpr std::int64_t heartbeat_interval_standalone_ms = 60'000;
constexpr std::size_t records_remembered_max = 16'384;  // newest records with hashes in memory
constexpr std::int64_t peers_compared_ms_max = 1'000;   // then a node serves without the others' hashes
constexpr std::int64_t heartbeat_slow_ms = 1'000;       // then the newest record is read again
constexpr std::int64_t barrier_wait_ms_max = 2'000;
constexpr std::int64_t barrier_heartbeat_age_ms_max = 5'000;
constexpr std::uint64_t free_disk_bytes_min = 2ull * 1024 * 1024 * 1024;
constexpr unsigned times_too_late_max = 3;
constexpr std::int64_t farewell_ms_max = 1'000;
constexpr std::int64_t isolation_grace_ms_default = 15 * 60'000;
/// How long every node must have advertised a level before it is put in force: until then an operator can
/// still take the upgrade back.
constexpr std::int64_t level_advertised_ms = 10 * 60'000;
constexpr std::size_t replayed_records_min = 10'000;  // fewer do not tell how fast it goes

static_assert(append_repeat_ms_base < append_repeat_ms_max);

}  // namespace herald::limits
