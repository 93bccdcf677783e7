// The enums of wire.md §1. Clients send the numbers, so they are frozen; answers carry the names.
#pragma once

#include "schemas/event_kinds.hpp"

namespace herald::schemas {

enum class stage : std::uint8_t { unknown, development, staging, production, archived, unassigned };
enum class lock_level : std::uint8_t { unknown, open, closed, redact };
enum class transition_state : std::uint8_t { unknown, approved, rejected, pending, closed, committed };
enum class artifact_type : std::uint8_t { image, model, tensorboard, data, blob, string, code, container };
enum class data_type : std::uint8_t { unknown, other, audio, image, tabular, text, video };
enum class task_type : std::uint8_t {
    unknown,
    other,
    classification,
    clustering,
    detection,
    regression,
    transcription,
    translation
};
enum class value_type : std::uint8_t { string, number, list, blob };
enum class resource_visibility : std::uint8_t {
    unknown,
    org_default,
    org_custom,
    private_,
    workspace_default
};
enum class find_operator : std::uint8_t { eq, ne, gt, gte, lt, lte, contain, not_contain, in, not_in };
enum class promotion_status : std::uint8_t { none, in_progress, complete, failed };
enum class build_status : std::uint8_t { building, finished, error };
enum class scan_status : std::uint8_t { unscanned, scanning, scanned, error };
/// How a report may say that a scan ended: the numbers are those of scan_status.
enum class scan_ending : std::uint8_t { scanned = 2, error = 3 };
enum class safety_status : std::uint8_t { unknown, safe, unsafe };
enum class webhook_status : std::uint8_t { enabled, disabled };
/// What a role allows actions on (wire.md §2).
enum class protected_type : std::uint8_t {
    none,
    dataset,
    project,
    registered_model,
    endpoint,
    monitored_entity,
    notification_channel
};
enum class action : std::uint8_t {
    none,
    read,
    update,
    create,
    delete_,
    approve_reject,
    register_,
    deploy,
    predict
};

template <>
inline constexpr auto enum_names<stage> =
    in_order<stage>("UNKNOWN", "DEVELOPMENT", "STAGING", "PRODUCTION", "ARCHIVED", "UNASSIGNED");
template <>
inline constexpr auto enum_names<lock_level> = in_order<lock_level>("UNKNOWN", "OPEN", "CLOSED", "REDACT");
template <>
inline constexpr auto enum_names<transition_state> =
    in_order<transition_state>("UNKNOWN", "APPROVED", "REJECTED", "PENDING", "CLOSED", "COMMITTED");
template <>
inline constexpr auto enum_names<artifact_type> =
    in_order<artifact_type>("IMAGE", "MODEL", "TENSORBOARD", "DATA", "BLOB", "STRING", "CODE", "CONTAINER");
template <>
inline constexpr auto enum_names<data_type> =
    in_order<data_type>("UNKNOWN", "OTHER", "AUDIO", "IMAGE", "TABULAR", "TEXT", "VIDEO");
template <>
inline constexpr auto enum_names<task_type> =
    in_order<task_type>("UNKNOWN", "OTHER", "CLASSIFICATION", "CLUSTERING", "DETECTION", "REGRESSION",
                        "TRANSCRIPTION", "TRANSLATION");
template <>
inline constexpr auto enum_names<value_type> = in_order<value_type>("STRING", "NUMBER", "LIST", "BLOB");
template <>
inline constexpr auto enum_names<resource_visibility> =
    in_order<resource_visibility>("UNKNOWN", "ORG_DEFAULT", "ORG_CUSTOM", "PRIVATE", "WORKSPACE_DEFAULT");
template <>
inline constexpr auto enum_names<find_operator> =
    in_order<find_operator>("EQ", "NE", "GT", "GTE", "LT", "LTE", "CONTAIN", "NOT_CONTAIN", "IN", "NOT_IN");
template <>
inline constexpr auto enum_names<promotion_status> =
    in_order<promotion_status>("NONE", "IN_PROGRESS", "COMPLETE", "FAILED");
template <>
inline constexpr auto enum_names<build_status> = in_order<build_status>("building", "finished", "error");
template <>
inline constexpr auto enum_names<scan_status> =
    in_order<scan_status>("unscanned", "scanning", "scanned", "error");
template <>
inline constexpr std::array enum_names<scan_ending>{named<scan_ending>{scan_ending::scanned, "scanned"},
                                                    named<scan_ending>{scan_ending::error, "error"}};
template <>
inline constexpr auto enum_names<safety_status> = in_order<safety_status>("unknown", "safe", "unsafe");
template <>
inline constexpr auto enum_names<webhook_status> = in_order<webhook_status>("ENABLED", "DISABLED");
template <>
inline constexpr auto enum_names<protected_type> =
    in_order<protected_type>("RESOURCE_TYPE_UNKNOWN", "DATASET", "PROJECT", "REGISTERED_MODEL", "ENDPOINT",
                             "MONITORED_ENTITY", "NOTIFICATION_CHANNEL");
template <>
inline constexpr auto enum_names<action> =
    in_order<action>("ACTION_TYPE_UNKNOWN", "READ", "UPDATE", "CREATE", "DELETE", "APPROVE_REJECT",
                     "REGISTER", "DEPLOY", "PREDICT");

}  // namespace herald::schemas
