// The bounds of everything said and stored. A text's bound is used twice: a rule refuses longer texts, and
// the glossary (glossary.cpp) shows it to callers. A bound that a rule checks changes only with a level
// (schemas/commands/level.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::size_t json_depth_max = 64;
constexpr std::size_t json_list_elements_max = 10'000;  // for a list in a call
constexpr std::size_t unknown_members_max = 5;          // per body, named in svc-warning
constexpr std::size_t list_rows_max = 10'000;
constexpr std::size_t entity_bytes_max = 256 * 1024;
constexpr std::size_t entity_json_bytes_max = 700 * 1024;  // as shown in events: a control character takes 6
constexpr std::size_t entity_short_bytes_max = 32 * 1024;  // then the JSON form fits, whatever it holds
constexpr std::size_t name_bytes_max = 256;
constexpr std::size_t email_bytes_max = 254;
constexpr std::size_t description_bytes_max = 64 * 1024;
constexpr std::size_t label_bytes_max = 256;
constexpr std::size_t labels_max = 256;
constexpr std::size_t attributes_max = 1'000;
constexpr std::size_t artifacts_max = 1'000;
constexpr std::uint64_t artifact_bytes_max = 5'000'000'000;  // of one upload, and of all its parts together
constexpr std::uint64_t artifact_part_bytes_max = 64'000'000;
constexpr std::size_t artifact_parts_max = 1'000;
constexpr std::size_t comment_bytes_max = 16 * 1024;
constexpr std::size_t flag_content_bytes_max = 4 * 1024;
constexpr std::size_t creator_request_bytes_max = 16 * 1024;  // echoed by every list
/// The body that makes an endpoint, or an update: more than twice a description, because some characters take
/// two bytes in JSON.
constexpr std::size_t endpoint_request_bytes_max = 192 * 1024;
constexpr std::size_t filter_conditions_max = 8;
constexpr std::size_t filter_path_bytes_max = 256;
constexpr std::size_t filter_path_members_max = 8;
constexpr std::size_t filter_value_bytes_max = 1'024;
constexpr std::size_t webhook_headers_max = 16;
constexpr std::size_t webhook_header_name_bytes_max = 128;
constexpr std::size_t webhook_header_value_bytes_max = 1'024;
constexpr std::uint32_t webhook_timeout_ms_min = 1'000;
constexpr std::uint32_t webhook_timeout_ms_max = 30'000;
constexpr std::size_t retry_waits_max = 16;
constexpr std::uint32_t retry_wait_seconds_min = 5;
constexpr std::uint32_t retry_wait_seconds_max = 24 * 3'600;
constexpr std::uint32_t webhook_rate_max = 10'000;  // attempts in a second
constexpr std::uint32_t secret_overlap_seconds_max = 7 * 24 * 3'600;
constexpr std::uint32_t secret_overlap_seconds_default = 24 * 3'600;
constexpr std::size_t secret_bytes_max = 256;         // of a webhook
constexpr std::size_t secret_bytes_recommended = 16;  // a shorter one is taken with a warning
constexpr std::size_t builds_per_version_max = 1'000;
constexpr std::size_t webhooks_per_workspace_max = 256;
constexpr std::size_t endpoint_path_bytes_max = 256;
constexpr std::size_t endpoint_stages_max = 16;  // of an endpoint
constexpr std::size_t access_tokens_max = 100;   // of a stage
constexpr std::size_t access_token_bytes_max = 256;
constexpr std::size_t stage_log_entries_max = 1'000;
constexpr std::size_t stage_log_message_bytes_max = 4 * 1024;
// A node that serves predictions is in contact for so long after it was heard (design.md §4).
constexpr std::int64_t node_contact_ms = 15'000;
// The bounds of an update's settings for an endpoint's stage.
constexpr std::uint64_t prediction_body_bytes_max = 64ull * 1024 * 1024;
constexpr std::int64_t prediction_deadline_ms_max = 600'000;
constexpr std::uint32_t prediction_in_flight_max = 10'000;
constexpr std::uint32_t batch_size_max = 1'024;
constexpr std::uint32_t batch_delay_ms_max = 1'000;
constexpr std::size_t json_shown_bytes_max = 60;

static_assert(2 * description_bytes_max < endpoint_request_bytes_max &&
              endpoint_request_bytes_max + creator_request_bytes_max < entity_bytes_max);
static_assert(artifact_part_bytes_max <= artifact_bytes_max);
static_assert(entity_short_bytes_max < entity_bytes_max && entity_bytes_max < entity_json_bytes_max);

}  // namespace herald::limits
