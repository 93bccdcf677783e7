// The bounds of backups.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

// Made by a running node
constexpr std::size_t backup_format_digits_max = 8;
constexpr std::size_t backups_kept_max = 16;        // in its folder; more are refused
constexpr std::size_t backups_listed_max = 100;     // an operator may have put more there
constexpr std::size_t artifacts_named_max = 1'000;  // of those that are missing

constexpr std::size_t backup_piece_rows_max = 200;  // a webhook's row makes others
constexpr std::size_t backup_piece_bytes_max =
    128 * 1024;                                            // reached by the last row: a row has up to 256 KiB
constexpr std::size_t backup_part_bytes_max = 8ull << 20;  // when it is read
constexpr std::size_t backup_records_per_part = 64;
constexpr std::size_t backup_records_bytes_max = 2ull << 20;  // reached by the last record
constexpr std::size_t restore_appends_in_flight_max = 64;
constexpr std::int64_t backup_silence_ms_max = 15'000;   // of a topic that has more
constexpr std::int64_t backup_log_wait_ms_max = 30'000;  // for the log's answer
constexpr std::int64_t republish_watch_ms = 10'000;      // several heartbeats of an API node

}  // namespace herald::limits
