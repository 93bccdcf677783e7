// The bounds of the program but those of runtime/http/limits.hpp. Each is tested from outside (style.md §3).
// Units come last.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

// Calls
constexpr std::size_t management_body_bytes_max = 1024 * 1024;
constexpr std::size_t connections_max = 10'000;        // fewer where there are few descriptors
constexpr std::int64_t drain_ms_max = 10'000;          // of it all; what follows is part of it:
constexpr std::int64_t drain_commands_ms_max = 1'500;  // for commands once the server has drained
constexpr std::int64_t drain_answers_ms_max = 500;     // for the answers that then are left
constexpr std::size_t idempotency_key_bytes_max = 128;
constexpr std::size_t base_url_bytes_max = 512;  // of a node, as its callers find it
constexpr std::size_t json_depth_max = 64;
constexpr std::size_t json_list_elements_max = 10'000;  // of a list that a call reads
constexpr std::size_t unknown_members_max = 5;          // of a body, named in svc-warning
constexpr std::size_t warning_name_bytes_max = 64;
constexpr std::int64_t turn_wait_ms_max = 10'000;  // a find waits for that of the same user
constexpr std::size_t page_limit_max = 1'000;
constexpr std::size_t list_rows_max = 10'000;

// Command log and apply (design.md §1)
constexpr std::size_t command_bytes_max = 512 * 1024;
constexpr std::size_t entity_bytes_max = 256 * 1024;
constexpr std::size_t entity_json_bytes_max = 700 * 1024;  // as events show it: a control character takes 6
constexpr std::size_t entity_short_bytes_max = 32 * 1024;  // whose JSON form is shorter, whatever it holds
constexpr std::size_t mutations_per_command_max = 1'000;
constexpr std::size_t timers_per_apply_max = 32;
constexpr std::int64_t not_after_ms = 120'000;
constexpr std::int64_t sender_clock_ahead_ms_max = 60'000;
constexpr std::int64_t log_time_ms_max = 253'402'300'799'999;  // the end of the year 9999
constexpr std::int64_t outcome_kept_ms = 24 * 3'600'000;
constexpr std::uint64_t outcome_rows_max = 5'000'000;
constexpr std::uint64_t outcome_bytes_max = 4ull * 1024 * 1024 * 1024;  // of all that are kept
constexpr std::int64_t outcome_wait_ms_max = 30'000;
constexpr std::size_t commands_in_flight_max = 4'096;
constexpr std::size_t apply_records_max = 1'000;                // read at once
constexpr std::size_t apply_batch_bytes_max = 4 * 1024 * 1024;  // of records, written at once
constexpr std::int64_t log_end_ms_max = 5'000;       // the newest applied record must be read again within
constexpr std::int64_t append_repeat_ms_base = 100;  // after an append of unknown outcome, doubling
constexpr std::int64_t append_repeat_ms_max = 2'000;
constexpr std::int64_t heartbeat_interval_ms = 2'000;
constexpr std::int64_t heartbeat_interval_standalone_ms = 60'000;
constexpr std::int64_t claim_lapse_ms = 10'000;
constexpr std::size_t records_remembered_max = 16'384;  // hashes of the newest, in memory
constexpr std::int64_t peers_compared_ms_max = 1'000;   // then a node serves without their hashes
constexpr std::int64_t heartbeat_slow_ms = 1'000;       // then the newest record is read again
constexpr std::size_t runtimes_max = 16;                // for models, that a node names
constexpr std::size_t runtime_name_bytes_max = 64;
constexpr std::int64_t isolation_grace_ms_default = 15 * 60'000;
constexpr std::int64_t node_row_kept_ms = 24ll * 3'600'000;  // since its last heartbeat
constexpr std::int64_t barrier_wait_ms_max = 2'000;
constexpr std::int64_t barrier_heartbeat_age_ms_max = 5'000;
constexpr std::int64_t unheard_ms_max =
    8'000;  // a node or worker is not ready then (a new controller takes 5 s)
constexpr std::uint64_t free_disk_bytes_min = 2ull * 1024 * 1024 * 1024;

// Names and texts
constexpr std::size_t name_bytes_max = 256;
constexpr std::size_t description_bytes_max = 64 * 1024;
constexpr std::size_t label_bytes_max = 256;
constexpr std::size_t labels_max = 256;
constexpr std::size_t attributes_max = 1'000;
constexpr std::size_t access_memory_entries_max = 10'000;
constexpr std::size_t artifacts_max = 1'000;
constexpr std::size_t url_bytes_max = 2'048;
constexpr std::size_t secret_bytes_max = 256;
constexpr std::size_t comment_bytes_max = 16 * 1024;
constexpr std::size_t email_bytes_max = 254;
constexpr std::size_t creator_request_bytes_max = 16 * 1024;  // echoed by every list
constexpr std::size_t builds_per_version_max = 1'000;
constexpr std::size_t find_values_max = 100;  // in all predicates of a call, those of IN lists counted
constexpr std::size_t find_answer_bytes_max = 8 * 1024 * 1024;  // of rows

// The log (events/log/log.hpp)
constexpr std::size_t producer_records_unacknowledged_max = 16'384;
constexpr std::size_t producer_bytes_unacknowledged_max = 24 * 1024 * 1024;
constexpr std::size_t commit_metadata_bytes_max = 1'024;
constexpr std::size_t member_poll_bytes_max = 1024 * 1024;  // of records; the one that reaches it still comes

// The embedded log's clock (design.md §1 "Time")
constexpr std::int64_t log_clock_leap_ms_max = 30ll * 24 * 3'600'000;  // at a start, unless it is accepted
constexpr std::int64_t log_clock_leap_held_ms =
    24 * 3'600'000;                                       // after a leap of more, nothing expires for so long
constexpr std::int64_t log_clock_off_ms_max = 3'600'000;  // beyond, an alarm

// Events and webhooks (design.md §1-2, delivery.md)
constexpr std::size_t webhooks_per_workspace_max = 256;
constexpr std::int64_t outbox_kept_ms = 30ll * 24 * 3'600'000;
constexpr std::int64_t publisher_stall_ms_max = 30'000;
constexpr std::size_t publisher_records_in_flight_max = 1'024;
constexpr std::size_t publisher_bytes_in_flight_max = 8 * 1024 * 1024;  // and one row
constexpr std::size_t publisher_partition_records_max = 128;        // of those in flight, of one partition
constexpr std::size_t publisher_partition_bytes_max = 1024 * 1024;  // likewise, and one row
constexpr std::size_t publisher_rows_per_read_max = 64;
constexpr std::size_t publisher_tails_at_once_max = 8;
constexpr std::int64_t publisher_read_ms_max = 10'000;  // without progress; then the read rests
constexpr std::int64_t publisher_rest_ms_base = 100;    // after a failure, doubling
constexpr std::int64_t publisher_rest_ms_max = 5'000;
constexpr std::size_t subscriber_changes_per_read_max = 256;
constexpr std::int64_t subscribers_compare_interval_ms = 10 * 60'000;
constexpr std::size_t event_metadata_bytes_max = 32 * 1024;  // all but its entities: audience, envelope, ids
constexpr std::size_t event_bytes_max = 3 * 512 * 1024;
constexpr std::size_t delivery_metadata_bytes_max = 32 * 1024;  // beside the event: ids, counts, reason
constexpr std::size_t record_bytes_max = 2 * 1024 * 1024;
static_assert(2 * entity_json_bytes_max + event_metadata_bytes_max <= event_bytes_max,
              "original and updated");
static_assert(entity_json_bytes_max + entity_bytes_max + event_metadata_bytes_max <= event_bytes_max,
              "PROMOTE, where the JSON text of an attribute's value stands as a string");
static_assert(event_bytes_max + delivery_metadata_bytes_max <= record_bytes_max, "retry and dead");
constexpr std::int64_t delivery_deadline_ms = 15'000;
constexpr std::int64_t delivery_connect_ms = 5'000;
constexpr std::int64_t parked_ms_max = 24 * 3'600'000;
constexpr std::int64_t test_deadline_ms = 20'000;
constexpr std::size_t tests_in_flight_max = 256;
constexpr std::int64_t lane_work_ms = 2'000;     // a lane holds what it works off in this time, but
constexpr std::size_t lane_depth_min = 16;       // at least and, while the receiver is in trouble, most
constexpr std::size_t lane_depth_unknown = 256;  // before the first answer says how fast it is
constexpr std::size_t lane_depth_max = 4'096;
constexpr std::size_t lane_bytes_max = 8 * 1024 * 1024;           // of bodies that wait in one lane
constexpr std::size_t lane_bytes_troubled_max = 2 * 1024 * 1024;  // likewise, of a receiver in trouble
constexpr std::size_t lane_concurrency_max = 32;
constexpr std::size_t lane_concurrency_setting_max = 256;
constexpr std::size_t lane_concurrency_scarce_max = 8;  // while more than half of the slots are taken
constexpr std::int64_t lane_wait_ms_max = 5'000;        // then a delivery leaves its lane
constexpr std::int64_t slow_answer_ms = 250;            // a receiver whose answers take longer is slow
constexpr std::int64_t slow_backlog_ms_max = 5'000;     // of work that a slow one may have in `waiting`
constexpr std::int64_t backlog_ms_max = 60'000;         // likewise any other one
constexpr std::int64_t subscriber_wait_ms_max = 5'000;  // for a row that the table has not reached
constexpr std::size_t attempts_in_flight_max = 512;
constexpr std::size_t worker_window_max = 4'096;                   // deliveries held for one partition
constexpr std::size_t worker_window_share = 8;                     // of it at most 1/8 for one webhook
constexpr std::size_t worker_window_records_max = 16'384;          // from its first record that is not done
constexpr std::size_t worker_held_bytes_max = 64 * 1024 * 1024;    // of events, over all partitions
constexpr std::size_t worker_writing_bytes_max = 8 * 1024 * 1024;  // on their way to other topics
constexpr std::size_t attempt_records_waiting_max = 10'000;        // beyond, records of attempts are dropped
constexpr std::uint64_t retry_backlog_per_webhook_max = 100'000;
constexpr std::int64_t slow_attempt_ms = 2'000;
constexpr std::int64_t subscribers_unreachable_ms_max = 30'000;
constexpr std::int64_t delivery_log_kept_ms = 30ll * 24 * 3'600'000;
constexpr std::uint64_t delivery_log_bytes_max = 4ull * 1024 * 1024 * 1024;  // the oldest go first
constexpr std::int64_t health_report_interval_ms = 60'000;                   // of one webhook
constexpr std::size_t health_webhooks_max = 100'000;

}  // namespace herald::limits
