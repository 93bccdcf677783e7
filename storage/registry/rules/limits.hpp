// The bounds of what rules accept and keep, and their times. Another value waits for a level, as any change
// of a rule (schemas/commands/level.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::int64_t scan_deadline_ms = 24ll * 3'600'000;
constexpr std::int64_t webhook_disable_after_ms =
    5ll * 24 * 3'600'000;  // of nothing but failures (delivery.md §4)
constexpr std::int64_t webhook_disabling_told_ms = 24ll * 3'600'000;  // before it is disabled
constexpr std::int64_t webhook_disabled_told_again_ms = 10ll * 60'000;
constexpr std::int64_t outbox_kept_ms = 30ll * 24 * 3'600'000;
// Of what hangs on deleted models and versions, the most that one command or one firing of a timer erases.
constexpr std::size_t removed_rows_max = 300;
constexpr std::size_t removal_changes_max = 4'000;  // a row and its index entries; events, too
constexpr std::size_t removal_changes_per_command_max = 300;
constexpr std::size_t removed_bytes_max = 4 * 1024 * 1024;
constexpr std::size_t users_per_request_max = 400;
constexpr std::size_t groups_per_organization_max = 400;
constexpr std::size_t roles_per_organization_max = 500;
constexpr std::size_t permissions_max = 100;  // of a workspace
constexpr std::size_t sessions_per_user_max = 100;
constexpr std::size_t sessions_per_delete_max = 100;
constexpr std::int64_t session_seconds_default = 24ll * 3'600;
constexpr std::int64_t session_seconds_max = 365ll * 24 * 3'600;
constexpr std::size_t memberships_per_sweep = 150;  // a membership is two rows
constexpr std::size_t webhooks_per_delete_max = 100;
constexpr std::size_t webhook_filters_max = 16;
constexpr std::size_t event_uuid_bytes_max = 48;                 // a timer's key holds it
constexpr std::int64_t event_time_ms_max = 253'402'300'799'999;  // the end of the year 9999
constexpr std::int64_t external_event_kept_ms = 30ll * 24 * 3'600'000;
constexpr std::size_t retried_at_once_max = 100;                // deliveries by their ids
constexpr std::size_t replays_running_max = 16;                 // of a workspace
constexpr std::size_t replays_kept_max = 1'000;                 // likewise
constexpr std::int64_t replay_kept_ms = 30ll * 24 * 3'600'000;  // after it has ended
constexpr std::size_t replay_cursor_bytes_max = 16 * 1024;
constexpr std::uint32_t approvals_required_max = 100;
constexpr std::uint32_t promotion_deadline_seconds_max = 365u * 24 * 3'600;
constexpr std::size_t listeners_named_max = 8;  // in the message of a scan
constexpr std::size_t runtimes_max = 16;        // runtimes for models that a node lists
constexpr std::size_t runtime_name_bytes_max = 64;
constexpr std::size_t replaced_processes_max = 16;       // told apart, of a node
constexpr std::int64_t blob_kept_ms = 24ll * 3'600'000;  // of bytes that nothing refers to
constexpr std::int64_t unfinished_upload_kept_ms = 24ll * 3'600'000;
constexpr std::size_t parts_released_at_once_max = 16;    // more by a timer,
constexpr std::size_t parts_released_by_timer_max = 300;  // so many at a time
constexpr std::size_t objects_per_command_max = 300;
constexpr std::size_t object_name_bytes_max = 128;
constexpr std::size_t stage_log_swept_per_firing = 300;
constexpr std::int64_t build_ms_max = 600'000;             // until a node has made it
constexpr std::size_t build_parts_max = 300;               // of the model's bytes: a reference to each
constexpr std::size_t stages_followed_at_once_max = 16;    // of a build that has changed
constexpr std::int64_t component_load_ms_max = 600'000;    // until it is ready on every node
constexpr std::int64_t component_look_ms = 2'000;          // how often it is asked for which nodes are waited
constexpr std::int64_t canary_reports_wait_ms = 5'000;     // for the nodes' counts after an interval
constexpr std::uint64_t canary_requests_min = 20;          // with fewer, an interval decides nothing
constexpr std::uint32_t canary_holds_max = 10;             // in a row, then it is rolled back
constexpr std::uint64_t canary_requests_max = 1ull << 40;  // in an interval, of all nodes
constexpr std::uint32_t canary_interval_seconds_max = 7 * 24 * 3'600;
constexpr std::size_t canary_rules_max = 16;
constexpr std::size_t sealed_token_bytes_max = 1'024;  // beside the value, a key's name and a seal are short

}  // namespace herald::limits
