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
struct enum_names<stage> {
    static constexpr std::array<named<stage>, 6> all{{{stage::unknown, "UNKNOWN"},
                                                      {stage::development, "DEVELOPMENT"},
                                                      {stage::staging, "STAGING"},
                                                      {stage::production, "PRODUCTION"},
                                                      {stage::archived, "ARCHIVED"},
                                                      {stage::unassigned, "UNASSIGNED"}}};
};
template <>
struct enum_names<lock_level> {
    static constexpr std::array<named<lock_level>, 4> all{{{lock_level::unknown, "UNKNOWN"},
                                                           {lock_level::open, "OPEN"},
                                                           {lock_level::closed, "CLOSED"},
                                                           {lock_level::redact, "REDACT"}}};
};
template <>
struct enum_names<transition_state> {
    static constexpr std::array<named<transition_state>, 6> all{{{transition_state::unknown, "UNKNOWN"},
                                                                 {transition_state::approved, "APPROVED"},
                                                                 {transition_state::rejected, "REJECTED"},
                                                                 {transition_state::pending, "PENDING"},
                                                                 {transition_state::closed, "CLOSED"},
                                                                 {transition_state::committed, "COMMITTED"}}};
};
template <>
struct enum_names<artifact_type> {
    static constexpr std::array<named<artifact_type>, 8> all{{{artifact_type::image, "IMAGE"},
                                                              {artifact_type::model, "MODEL"},
                                                              {artifact_type::tensorboard, "TENSORBOARD"},
                                                              {artifact_type::data, "DATA"},
                                                              {artifact_type::blob, "BLOB"},
                                                              {artifact_type::string, "STRING"},
                                                              {artifact_type::code, "CODE"},
                                                              {artifact_type::container, "CONTAINER"}}};
};
template <>
struct enum_names<data_type> {
    static constexpr std::array<named<data_type>, 7> all{{{data_type::unknown, "UNKNOWN"},
                                                          {data_type::other, "OTHER"},
                                                          {data_type::audio, "AUDIO"},
                                                          {data_type::image, "IMAGE"},
                                                          {data_type::tabular, "TABULAR"},
                                                          {data_type::text, "TEXT"},
                                                          {data_type::video, "VIDEO"}}};
};
template <>
struct enum_names<task_type> {
    static constexpr std::array<named<task_type>, 8> all{{{task_type::unknown, "UNKNOWN"},
                                                          {task_type::other, "OTHER"},
                                                          {task_type::classification, "CLASSIFICATION"},
                                                          {task_type::clustering, "CLUSTERING"},
                                                          {task_type::detection, "DETECTION"},
                                                          {task_type::regression, "REGRESSION"},
                                                          {task_type::transcription, "TRANSCRIPTION"},
                                                          {task_type::translation, "TRANSLATION"}}};
};
template <>
struct enum_names<value_type> {
    static constexpr std::array<named<value_type>, 4> all{{{value_type::string, "STRING"},
                                                           {value_type::number, "NUMBER"},
                                                           {value_type::list, "LIST"},
                                                           {value_type::blob, "BLOB"}}};
};
template <>
struct enum_names<resource_visibility> {
    static constexpr std::array<named<resource_visibility>, 5> all{
        {{resource_visibility::unknown, "UNKNOWN"},
         {resource_visibility::org_default, "ORG_DEFAULT"},
         {resource_visibility::org_custom, "ORG_CUSTOM"},
         {resource_visibility::private_, "PRIVATE"},
         {resource_visibility::workspace_default, "WORKSPACE_DEFAULT"}}};
};
template <>
struct enum_names<find_operator> {
    static constexpr std::array<named<find_operator>, 10> all{{{find_operator::eq, "EQ"},
                                                               {find_operator::ne, "NE"},
                                                               {find_operator::gt, "GT"},
                                                               {find_operator::gte, "GTE"},
                                                               {find_operator::lt, "LT"},
                                                               {find_operator::lte, "LTE"},
                                                               {find_operator::contain, "CONTAIN"},
                                                               {find_operator::not_contain, "NOT_CONTAIN"},
                                                               {find_operator::in, "IN"},
                                                               {find_operator::not_in, "NOT_IN"}}};
};
template <>
struct enum_names<promotion_status> {
    static constexpr std::array<named<promotion_status>, 4> all{
        {{promotion_status::none, "NONE"},
         {promotion_status::in_progress, "IN_PROGRESS"},
         {promotion_status::complete, "COMPLETE"},
         {promotion_status::failed, "FAILED"}}};
};
template <>
struct enum_names<build_status> {
    static constexpr std::array<named<build_status>, 3> all{{{build_status::building, "building"},
                                                             {build_status::finished, "finished"},
                                                             {build_status::error, "error"}}};
};
template <>
struct enum_names<scan_status> {
    static constexpr std::array<named<scan_status>, 4> all{{{scan_status::unscanned, "unscanned"},
                                                            {scan_status::scanning, "scanning"},
                                                            {scan_status::scanned, "scanned"},
                                                            {scan_status::error, "error"}}};
};
template <>
struct enum_names<scan_ending> {
    static constexpr std::array<named<scan_ending>, 2> all{
        {{scan_ending::scanned, "scanned"}, {scan_ending::error, "error"}}};
};
template <>
struct enum_names<safety_status> {
    static constexpr std::array<named<safety_status>, 3> all{{{safety_status::unknown, "unknown"},
                                                              {safety_status::safe, "safe"},
                                                              {safety_status::unsafe, "unsafe"}}};
};
template <>
struct enum_names<webhook_status> {
    static constexpr std::array<named<webhook_status>, 2> all{
        {{webhook_status::enabled, "ENABLED"}, {webhook_status::disabled, "DISABLED"}}};
};
template <>
struct enum_names<protected_type> {
    static constexpr std::array<named<protected_type>, 7> all{
        {{protected_type::none, "RESOURCE_TYPE_UNKNOWN"},
         {protected_type::dataset, "DATASET"},
         {protected_type::project, "PROJECT"},
         {protected_type::registered_model, "REGISTERED_MODEL"},
         {protected_type::endpoint, "ENDPOINT"},
         {protected_type::monitored_entity, "MONITORED_ENTITY"},
         {protected_type::notification_channel, "NOTIFICATION_CHANNEL"}}};
};
template <>
struct enum_names<action> {
    static constexpr std::array<named<action>, 9> all{{{action::none, "ACTION_TYPE_UNKNOWN"},
                                                       {action::read, "READ"},
                                                       {action::update, "UPDATE"},
                                                       {action::create, "CREATE"},
                                                       {action::delete_, "DELETE"},
                                                       {action::approve_reject, "APPROVE_REJECT"},
                                                       {action::register_, "REGISTER"},
                                                       {action::deploy, "DEPLOY"},
                                                       {action::predict, "PREDICT"}}};
};

}  // namespace herald::schemas
