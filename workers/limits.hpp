// The bounds of deliveries (delivery.md).
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::int64_t delivery_deadline_ms = 15'000;
constexpr std::int64_t delivery_connect_ms = 5'000;
constexpr std::int64_t parked_ms_max = 24 * 3'600'000;
constexpr std::int64_t lane_work_ms = 2'000;     // a lane holds what its receiver does in this time, but
constexpr std::size_t lane_depth_min = 16;       // at least this; also the most for one in trouble
constexpr std::size_t lane_depth_slow_min = 2;   // for one that takes longer than slow_attempt_ms
constexpr std::size_t lane_depth_unknown = 256;  // before the first answer shows its speed
constexpr std::size_t lane_depth_max = 4'096;
constexpr std::size_t lane_bytes_max = 8 * 1024 * 1024;           // of bodies waiting in one lane
constexpr std::size_t lane_bytes_troubled_max = 2 * 1024 * 1024;  // likewise, for a receiver in trouble
constexpr std::size_t lane_concurrency_max = 32;
constexpr std::size_t lane_concurrency_setting_max = 256;
constexpr std::size_t lane_concurrency_scarce_max = 8;  // while more than half of the slots are taken
constexpr std::int64_t lane_wait_ms_max = 5'000;        // after this a delivery leaves its lane
constexpr std::int64_t slow_answer_ms = 250;            // a receiver that takes longer to answer is slow
constexpr std::int64_t slow_backlog_ms_max = 5'000;     // of work for a slow receiver in `waiting`
constexpr std::int64_t backlog_ms_max = 60'000;         // likewise for any other receiver
constexpr std::int64_t late_probe_ms = 10;              // between two looks at how late the loop is
constexpr std::int64_t late_ms_min = 25;                // a loop that is less late is on time
constexpr std::int64_t late_remembered_ms = 1'000;      // a worker is late for this long after its loop was
constexpr std::int64_t late_worker_work_ms = 2'000;     // of work that a late worker takes into memory, but
constexpr std::size_t late_worker_deliveries_min = 64;  // at least this
constexpr std::size_t late_worker_looks_every = 16;     // deliveries that it accepts
constexpr std::int64_t late_worker_well_ms = 10'000;    // a receiver that answered well within this is well
constexpr std::int64_t subscriber_wait_ms_max = 5'000;  // for a row that is not in the table yet
constexpr std::size_t worker_window_max = 4'096;        // deliveries in memory for one partition
constexpr std::size_t worker_window_share = 8;          // at most 1/8 of it for one webhook
constexpr std::size_t worker_window_records_max = 16'384;          // from its first unfinished record
constexpr std::size_t worker_held_bytes_max = 64 * 1024 * 1024;    // of events, over all partitions
constexpr std::size_t worker_writing_bytes_max = 8 * 1024 * 1024;  // being appended to other topics
constexpr std::size_t attempt_records_waiting_max = 10'000;  // beyond this, records of attempts are dropped
constexpr std::uint64_t retry_backlog_per_webhook_max = 100'000;
constexpr std::int64_t slow_attempt_ms = 2'000;         // a receiver that takes longer is very slow:
constexpr std::int64_t very_slow_wait_ms_min = 60'000;  // what waits for it waits in a topic of this delay
constexpr std::int64_t subscribers_unreachable_ms_max = 30'000;
constexpr std::uint32_t breaker_failures_in_row_max = 10;
constexpr std::uint32_t breaker_results_min = 20;
constexpr std::int64_t breaker_open_ms_min = 30'000;
constexpr std::int64_t breaker_open_ms_max = 3'600'000;
constexpr std::size_t events_a_poll_max = 64;
constexpr std::int64_t clocks_apart_ms_max = 60'000;  // between brokers, or as known by two workers
constexpr std::size_t position_bytes_max = 64;
constexpr std::size_t lane_tests_max = 8;
constexpr std::size_t receiver_connections_default = 256;  // to one host and port
constexpr std::int64_t write_pause_ms_max = 5'000;
constexpr std::uint32_t attempt_record_tries_max = 4;
/// What runs of a partition may take so long to end before the partition goes to another worker.
constexpr std::int64_t recalled_ms_max = 2'000;

static_assert(lane_depth_slow_min < lane_depth_min);
static_assert(lane_depth_min < lane_depth_unknown && lane_depth_unknown < lane_depth_max);
static_assert(lane_bytes_troubled_max < lane_bytes_max);
static_assert(lane_concurrency_scarce_max <= lane_concurrency_max);
static_assert(lane_concurrency_max <= lane_concurrency_setting_max);
static_assert(slow_backlog_ms_max < backlog_ms_max);
static_assert(worker_window_max <= worker_window_records_max, "what is held is not done");
static_assert(late_probe_ms < late_ms_min && late_ms_min < late_remembered_ms);
static_assert(late_worker_looks_every < late_worker_deliveries_min);
static_assert(breaker_open_ms_min < breaker_open_ms_max);

}  // namespace herald::limits
