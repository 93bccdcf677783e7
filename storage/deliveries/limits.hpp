// The bounds of what a node keeps about deliveries.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::int64_t test_deadline_ms = 20'000;
constexpr std::size_t tests_in_flight_max = 256;
constexpr std::int64_t delivery_history_kept_ms = 30ll * 24 * 3'600'000;
constexpr std::uint64_t delivery_history_bytes_max = 4ull * 1024 * 1024 * 1024;  // of headers and bodies
constexpr std::size_t delivery_history_cache_bytes = 32ull << 20;
constexpr std::size_t recent_attempts_kept = 50;          // of a webhook
constexpr std::uint64_t deliveries_counted_max = 10'000;  // exactly, in a list's total_records
constexpr std::size_t histogram_steps_max = 96;
constexpr std::int64_t histogram_minutes_ms_max = 4ll * 24 * 3'600'000;  // longer ranges are counted by hours
constexpr std::int64_t delivery_list_ms_max = 800;  // then the answer says that it is not all
constexpr std::size_t dead_groups_max = 1'000;
constexpr std::uint64_t replay_window = 500;  // deliveries of a replay that are under way
constexpr std::size_t replay_sent_at_once = 100;
constexpr std::size_t replay_counted_at_once = 500;   // before others have their turn
constexpr std::size_t replay_looked_at_once = 2'000;  // events, likewise
constexpr std::size_t replays_looked_at_max = 1'000;  // that have not ended
constexpr std::int64_t replay_look_ms = 100;
constexpr std::int64_t replay_outcome_wait_ms = 10 * 60'000;  // without any new outcome
constexpr std::int64_t replay_dry_run_ms = 5'000;
constexpr std::int64_t outbox_look_ms = 500;           // for deliveries that wait for their first attempt
constexpr std::size_t outbox_looked_at_max = 2'000;    // events, at a time
constexpr std::int64_t attempts_end_wait_ms = 30'000;  // for the ends of `attempts`, at the start
constexpr std::int64_t health_report_interval_ms = 60'000;  // of one webhook
constexpr std::size_t health_webhooks_max = 100'000;
constexpr std::size_t health_reason_bytes_max = 256;
constexpr std::size_t lost_requests_max = 10'000;       // for scans, that are remembered at a time
constexpr std::size_t read_events_per_second_max = 10;  // of one webhook and node
constexpr std::size_t read_events_in_flight_max = 64;   // to the log
constexpr std::int64_t read_event_deadline_ms = 60'000;
constexpr std::int64_t read_listeners_kept_ms = 1'000;
constexpr std::size_t read_workspaces_max = 10'000;  // whose listeners are remembered

}  // namespace herald::limits
