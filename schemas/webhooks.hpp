// Webhooks, events and deliveries: what is stored, and what is sent on the event topics (design.md §2-3,
// delivery.md).
#pragma once

#include "schemas/enums.hpp"

namespace herald::schemas {

/// {"registry_service_resource_type": "REGISTERED_MODEL_VERSION"}: exactly one member (spec.md §2.2).
struct resource_filter {
    resource_type registry_service_resource_type = resource_type::none;
    resource_type deployment_service_resource_type = resource_type::none;
    resource_type modeldb_service_resource_type = resource_type::none;

    friend bool operator==(const resource_filter&, const resource_filter&) = default;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "registry_service_resource_type", self.registry_service_resource_type, shown::when_set);
        field(2, "deployment_service_resource_type", self.deployment_service_resource_type, shown::when_set);
        field(3, "modeldb_service_resource_type", self.modeldb_service_resource_type, shown::when_set);
    }
};

/// What a member of an event's body must be, so that a webhook hears the event (event_filter.hpp).
struct filter_condition {
    std::string path;  // of members, with dots between; attributes.<key> for a list of {key, value}
    find_operator operator_ = find_operator::eq;
    json_text value;

    static constexpr std::array<std::string_view, 2> required{"path", "value"};
    friend bool operator==(const filter_condition&, const filter_condition&) = default;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "path", self.path);
        field(2, "operator", self.operator_);
        field(3, "value", self.value);
    }
};

enum class content_mode : std::uint8_t { binary, structured };
template <>
inline constexpr auto enum_names<content_mode> = in_order<content_mode>("binary", "structured");

/// How deliveries are made; each member at its default means the usual way.
struct webhook_delivery {
    std::string description;
    std::uint32_t timeout_ms = 0;
    std::vector<std::uint32_t> retry_schedule;  // seconds
    std::uint32_t rate_limit = 0;               // attempts that may begin in a second, at each worker
    std::vector<filter_condition> filter;       // all must hold
    schemas::content_mode content_mode = schemas::content_mode::binary;
    bool asymmetric = false;        // an ed25519 signature, too
    std::int64_t time_expires = 0;  // when it is deleted

    friend bool operator==(const webhook_delivery&, const webhook_delivery&) = default;
    static constexpr void describe(auto& self, auto&& field) {
        field(10, "description", self.description);
        field(11, "timeout_ms", self.timeout_ms);
        field(12, "retry_schedule", self.retry_schedule);
        field(13, "rate_limit", self.rate_limit);
        field(14, "filter", self.filter);
        field(15, "content_mode", self.content_mode);
        field(16, "asymmetric", self.asymmetric);
        field(17, "time_expires", self.time_expires);
    }
};

/// A header that the receiver asked for. Its value is a secret.
struct webhook_header {
    std::string name;          // lower case
    std::string sealed_value;  // as a webhook's secret
    std::string seal_binding;

    friend bool operator==(const webhook_header&, const webhook_header&) = default;
    HERALD_DESCRIBE(name, sealed_value, seal_binding);
};

/// The settings that an owner chooses for a webhook: the same in the request, the command, the row and the
/// topic `subscribers`. A request and an answer show these members as their own, so they use the same
/// numbers.
struct webhook_settings {
    std::string name;  // unique in its workspace
    std::string location;
    std::vector<schemas::event_type> event_types;
    bool all_events = false;
    std::vector<resource_filter> resource_types;
    webhook_delivery delivery;

    using shown_inline = webhook_delivery;
    friend bool operator==(const webhook_settings&, const webhook_settings&) = default;
    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(name, location, event_types, all_events, resource_types);
        webhook_delivery::describe(self.delivery, field);
    }
};

/// What an update changes in a webhook: the same in the request and the command. What is absent or empty
/// stays as it is, but for the members of `delivery`: those that are `given` are set. A type or filter that
/// is deleted need not be there.
struct webhook_changes {
    webhook_id id;
    std::string new_name;
    std::string new_location;
    std::vector<event_type> add_event_types;
    std::vector<event_type> delete_event_types;
    bool set_all_events = false;
    bool clear_all_events = false;
    std::vector<resource_filter> add_resource_types;
    std::vector<resource_filter> delete_resource_types;
    webhook_delivery delivery;
    std::vector<std::string> given;

    using shown_inline = webhook_delivery;
    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(id, new_location, add_event_types, delete_event_types, set_all_events, clear_all_events,
                      add_resource_types, delete_resource_types, new_name);
        webhook_delivery::describe(self.delivery, field);
        field(18, "given", self.given, shown::never);
    }
};

/// What a rotation has replaced, while it still signs.
struct earlier_secret {
    std::string sealed_secret;
    std::string seal_binding;
    std::int64_t until_ms = 0;  // log time

    friend bool operator==(const earlier_secret&, const earlier_secret&) = default;
    HERALD_DESCRIBE(sealed_secret, seal_binding, until_ms);
};

struct webhook {
    webhook_id id;
    schemas::workspace_id workspace_id;
    webhook_settings settings;
    std::string sealed_secret;  // key_ring, bound to "webhook:<command id hex>"; empty: none
    std::string seal_binding;
    webhook_status status = webhook_status::enabled;
    std::string status_reason;
    std::int64_t time_created = 0;
    std::int64_t time_updated = 0;
    /// Offset of the command that last changed the row.
    std::uint64_t revision = 0;
    std::int64_t failing_since_ms = 0;  // only failures since then; 0: healthy
    /// While it fails: whether other events than WEBHOOK_HEALTH fail. If not, nobody is told.
    bool failing_counts = false;
    bool failing_told = false;          // WEBHOOK_HEALTH has said so
    std::int64_t disable_at_ms = 0;     // if it still only fails then; 0: not planned
    std::int64_t disabled_told_ms = 0;  // when WEBHOOK_HEALTH last said that it was disabled
    std::vector<webhook_header> headers;
    schemas::earlier_secret earlier_secret;

    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(id, workspace_id, settings, sealed_secret, seal_binding, status, status_reason,
                      time_created, time_updated, revision, failing_since_ms, failing_counts, failing_told,
                      disable_at_ms, disabled_told_ms, headers);
        field(17, "earlier_secret", self.earlier_secret);
    }
};

/// Whether events of this type about this resource reach the webhook: decided by its event_types and
/// resource_types, whatever its status.
bool hears(const webhook&, event_type, resource_type);
/// Whether any event about such a resource reaches it; ALL: about any resource.
bool hears_of(const webhook&, resource_type);

/// An event that another system reported: remembered for 30 days, so that a repeat is known.
struct external_event {
    schemas::workspace_id workspace_id;
    std::string event_uuid;  // unique in the workspace
    event_id id;
    std::int64_t time_ms = 0;    // when it was reported first
    std::uint32_t audience = 0;  // how many webhooks heard it

    HERALD_DESCRIBE(workspace_id, event_uuid, id, time_ms, audience);
};

/// A webhook that matched an event at its place in the log. Held: it was disabled at that point; kept for
/// replay. The revision it had there: an older place or secret must not be used for this event.
struct audience_member {
    schemas::webhook_id webhook_id;
    bool held = false;
    std::uint64_t revision = 0;

    friend bool operator==(const audience_member&, const audience_member&) = default;
    HERALD_DESCRIBE(webhook_id, held, revision);
};

/// An event as stored in the outbox and on the event topics. `body` is the exact bytes that every receiver
/// gets.
struct event {
    event_id id;
    event_type type = event_type::create;
    schemas::resource_type resource_type = schemas::resource_type::none;
    std::string resource_id;
    schemas::workspace_id workspace_id;
    std::int64_t time_ms = 0;
    std::uint32_t generation = 0;
    std::uint64_t offset = 0;              // of the command in registry.commands
    std::uint64_t partition_sequence = 0;  // dense: 1, 2, 3 … within its output partition and generation
    std::uint64_t resource_sequence = 0;   // svc-sequence: counts this type's events about this resource
    std::vector<audience_member> audience;
    std::string body;
    std::string traceparent;
    /// Why the log refused the record of this event, which this record, without a body, replaces; otherwise
    /// empty.
    std::string refused;
    std::string workspace_name;  // as it was called then
    std::string report_url;      // where the receiver reports what came of it; empty: nothing is expected
    std::string subject;         // what it is about, by the names it had then: "model/version"; may be empty
    std::string request_id;      // svc-request-id of the request that caused it; empty: none did

    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(id, type, resource_type, resource_id, workspace_id, time_ms, generation, offset,
                      partition_sequence, resource_sequence, audience, body, traceparent, refused,
                      workspace_name, report_url);
        field(17, "subject", self.subject);
        field(18, "request_id", self.request_id);
    }
};

/// What the outbox's index by time says of an event.
struct event_summary {
    schemas::workspace_id workspace_id;
    event_type type = event_type::create;
    schemas::resource_type resource_type = schemas::resource_type::none;
    event_id id;

    HERALD_DESCRIBE(workspace_id, type, resource_type, id);
};

/// The header `webhook-id`: 32 hexadecimal digits, of SHA-256(event id, "/", webhook id in decimal). The same
/// for all retries, resends and replays; frozen.
std::string delivery_id(std::string_view event_id, webhook_id);

/// A row of the compacted topic `subscribers`, key = webhook id in decimal; a tombstone when the webhook is
/// deleted. The key "head" holds a subscribers_head instead.
struct subscriber {
    schemas::webhook_id webhook_id;
    schemas::workspace_id workspace_id;
    std::uint64_t revision = 0;
    webhook_settings settings;
    std::string sealed_secret;
    std::string seal_binding;
    bool enabled = true;
    std::string disabled_because;       // only if it is not enabled
    std::int64_t failing_since_ms = 0;  // likewise; 0: it was disabled without earlier failures
    std::vector<webhook_header> headers;
    schemas::earlier_secret earlier_secret;

    friend bool operator==(const subscriber&, const subscriber&) = default;
    HERALD_DESCRIBE(webhook_id, workspace_id, revision, settings, sealed_secret, seal_binding, enabled,
                    disabled_because, failing_since_ms, headers, earlier_secret);
};

/// Every change of a webhook at or below `offset` is in the topic before this record, and the topic then
/// holds `rows` rows: if it has fewer, some were lost, as when a topic was deleted and created anew.
struct subscribers_head {
    std::uint32_t generation = 0;
    std::uint64_t offset = 0;
    std::uint64_t rows = 0;

    friend bool operator==(const subscribers_head&, const subscribers_head&) = default;
    HERALD_DESCRIBE(generation, offset, rows);
};

enum class delivery_source : std::uint8_t { event, test, resend, replay };
/// delivery.md §3.
enum class delivery_error : std::uint8_t {
    none,
    address_not_allowed,
    dns,
    connect,
    tls,
    write,
    timeout,
    protocol,
    status,
    busy  // a test, but too many are already waiting
};
enum class attempt_result : std::uint8_t { succeeded, will_retry, dead, skipped, held };

template <>
inline constexpr auto enum_names<delivery_source> =
    in_order<delivery_source>("event", "test", "resend", "replay");
template <>
inline constexpr auto enum_names<delivery_error> = in_order<delivery_error>(
    "none", "address-not-allowed", "dns", "connect", "tls", "write", "timeout", "protocol", "status", "busy");
template <>
inline constexpr auto enum_names<attempt_result> =
    in_order<attempt_result>("succeeded", "will_retry", "dead", "skipped", "held");

/// One delivery on its way: on deliveries.direct, deliveries.replay, the retry topics and `dead`. Never
/// contains a location or a secret: the webhook's row is read at each attempt.
struct delivery {
    std::string id;  // webhook-id: H(event id, webhook id), the same for all attempts, resends and replays
    schemas::webhook_id webhook_id;
    schemas::event event;  // without its audience
    delivery_source source = delivery_source::event;
    std::uint32_t attempts_made = 0;
    /// Milliseconds still to wait after this record's own delay (a wait is composed of several retry topics).
    std::int64_t wait_left_ms = 0;
    std::uint32_t spills = 0;  // hops without an attempt
    std::uint64_t revision_seen = 0;
    std::int64_t first_attempt_ms = 0;
    /// Set for tests and READ events, which are best effort: attempted once, and not after this wall time.
    std::int64_t deadline_ms = 0;
    std::int64_t parked_until_ms = 0;  // Retry-After
    std::string call_id;               // of a test or a resend
    std::string reason;                // on `dead`: the reason
    bool waits_for_room = false;       // and not because its receiver failed
    /// Attempts that were made before a resend or a replay: they count in svc-attempt, not in the schedule.
    std::uint32_t attempts_before = 0;
    /// A resend of what waits for its next attempt: attempted once, beside its schedule.
    bool is_extra = false;
    std::uint64_t replay_id = 0;

    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(id, webhook_id, event, source, attempts_made, wait_left_ms, spills, revision_seen,
                      first_attempt_ms, deadline_ms, parked_until_ms, call_id, reason, waits_for_room,
                      attempts_before, is_extra);
        field(17, "replay_id", self.replay_id);
    }
};

/// One attempt, on the topic `attempts` and in the history of deliveries. Headers contain no secrets.
struct attempt {
    std::string delivery_id;
    schemas::webhook_id webhook_id;
    std::uint64_t webhook_revision = 0;
    schemas::event_id event_id;
    schemas::event_type event_type = schemas::event_type::create;
    schemas::resource_type resource_type = schemas::resource_type::none;
    std::string resource_id;
    schemas::workspace_id workspace_id;
    delivery_source source = delivery_source::event;
    std::string call_id;
    std::uint32_t number = 0;  // 1, 2, 3 …; 0: no attempt was made (skipped, held, or dead before any)
    attempt_result result = attempt_result::succeeded;
    delivery_error error = delivery_error::none;
    std::string message;
    std::int64_t time_ms = 0;
    std::string address;
    std::uint16_t status = 0;  // 0: no answer
    std::string request_headers;
    std::string response_headers;
    std::string response_body;
    std::uint32_t dns_us = 0;
    std::uint32_t connect_us = 0;
    std::uint32_t tls_us = 0;
    std::uint32_t first_byte_us = 0;
    std::uint32_t total_us = 0;
    std::int64_t next_attempt_ms = 0;
    bool disable_webhook = false;  // 410 or webhook-delivery: disable
    std::int64_t time_event_ms = 0;
    std::uint64_t replay_id = 0;  // 0: of no replay
    bool is_extra = false;        // beside its schedule, which goes on

    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(delivery_id, webhook_id, webhook_revision, event_id, event_type, resource_type,
                      resource_id, workspace_id, source, call_id, number, result, error, message, time_ms,
                      address);
        field(17, "status", self.status);
        field(18, "request_headers", self.request_headers);
        field(19, "response_headers", self.response_headers);
        field(20, "response_body", self.response_body);
        field(21, "dns_us", self.dns_us);
        field(22, "connect_us", self.connect_us);
        field(23, "tls_us", self.tls_us);
        field(24, "first_byte_us", self.first_byte_us);
        field(25, "total_us", self.total_us);
        field(26, "next_attempt_ms", self.next_attempt_ms);
        field(27, "disable_webhook", self.disable_webhook);
        field(28, "time_event_ms", self.time_event_ms);
        field(29, "replay_id", self.replay_id);
        field(30, "is_extra", self.is_extra);
    }
};

}  // namespace herald::schemas
