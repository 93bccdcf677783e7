// The headers of deliveries, one row each: how they are named, and what the OpenAPI document says of them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/assert.hpp"

namespace herald::schemas {

enum class delivery_header : std::uint8_t {
    id_of_delivery,
    webhook_timestamp,
    webhook_signature,
    github_signature,
    id_of_event,
    event_type,
    event_time,
    resource_type,
    workspace,
    report_url,
    attempt,
    sequence,
    test,
    cloud_specversion,
    cloud_id,
    cloud_source,
    cloud_type,
    cloud_time,
    cloud_subject,
    traceparent
};

/// In which deliveries it is.
enum class delivery_header_in : std::uint8_t { all, some, tests };

struct delivery_header_row {
    delivery_header which;
    std::string_view name;  // of one of Herald's own: without its prefix
    bool is_own;
    delivery_header_in in;
    std::string_view meaning;
};
inline constexpr std::array delivery_headers{
    delivery_header_row{delivery_header::id_of_delivery, "webhook-id", false, delivery_header_in::all,
                        "Id of the delivery: a repeat has the same one"},
    delivery_header_row{delivery_header::webhook_timestamp, "webhook-timestamp", false,
                        delivery_header_in::all, "Time of this attempt, in seconds since the epoch"},
    delivery_header_row{delivery_header::webhook_signature, "webhook-signature", false,
                        delivery_header_in::some,
                        "With a mutual_secret: v1,<HMAC-SHA-256 in base64> of id, timestamp and body "
                        "(Standard Webhooks); several, with spaces between, while a secret is changed"},
    delivery_header_row{delivery_header::github_signature, "x-hub-signature-256", false,
                        delivery_header_in::some,
                        "With a mutual_secret: sha256=<HMAC-SHA-256 in hexadecimal digits> of the body"},
    delivery_header_row{delivery_header::id_of_event, "event-id", true, delivery_header_in::all,
                        "Id of the event: the same for all webhooks"},
    delivery_header_row{delivery_header::event_type, "event-type", true, delivery_header_in::all,
                        "The type of the event, or TEST"},
    delivery_header_row{delivery_header::event_time, "event-time", true, delivery_header_in::all,
                        "When it happened, ISO 8601"},
    delivery_header_row{delivery_header::resource_type, "resource-type", true, delivery_header_in::some,
                        "The type of what the event is about"},
    delivery_header_row{delivery_header::workspace, "workspace", true, delivery_header_in::some,
                        "The name of the workspace, percent-encoded UTF-8"},
    delivery_header_row{delivery_header::report_url, "report-url", true, delivery_header_in::some,
                        "Where to PUT the result of a scan or of a promotion"},
    delivery_header_row{delivery_header::attempt, "attempt", true, delivery_header_in::all,
                        "Number of this attempt, from 1 on"},
    delivery_header_row{delivery_header::sequence, "sequence", true, delivery_header_in::all,
                        "Rises from event to event of one resource"},
    delivery_header_row{delivery_header::test, "test", true, delivery_header_in::tests,
                        "true: somebody tests the webhook, and nothing has happened"},
    delivery_header_row{delivery_header::cloud_specversion, "ce-specversion", false, delivery_header_in::all,
                        "1.0 (CloudEvents)"},
    delivery_header_row{delivery_header::cloud_id, "ce-id", false, delivery_header_in::all, "The event's id"},
    delivery_header_row{delivery_header::cloud_source, "ce-source", false, delivery_header_in::all,
                        "/workspaces/<id>/<type of the resource>"},
    delivery_header_row{delivery_header::cloud_type, "ce-type", false, delivery_header_in::all,
                        "herald.<type of the event>"},
    delivery_header_row{delivery_header::cloud_time, "ce-time", false, delivery_header_in::all,
                        "When it happened, ISO 8601"},
    delivery_header_row{delivery_header::cloud_subject, "ce-subject", false, delivery_header_in::some,
                        "The id of what the event is about"},
    delivery_header_row{delivery_header::traceparent, "traceparent", false, delivery_header_in::some,
                        "As the request that caused it had it (W3C Trace Context)"},
};
static_assert(
    [] {
        for (std::size_t i = 0; i < delivery_headers.size(); ++i)
            if (static_cast<std::size_t>(delivery_headers[i].which) != i) return false;
        return true;
    }(),
    "rows stand in the order of delivery_header");

/// With the prefix of Herald's own headers, as "svc-".
inline std::string name_of(delivery_header which, std::string_view prefix) {
    const auto place = static_cast<std::size_t>(which);
    HERALD_ASSERT(place < delivery_headers.size());
    const delivery_header_row& row = delivery_headers[place];
    return row.is_own ? std::string(prefix) + std::string(row.name) : std::string(row.name);
}

}  // namespace herald::schemas
