// Bodies about deliveries that are sent again (wire.md §7 "Deliveries").
#pragma once

#include "schemas/deliveries.hpp"
#include "schemas/find.hpp"
#include "schemas/glossary.hpp"
#include "schemas/requests/request.hpp"
#include "schemas/webhook_calls.hpp"

namespace herald::schemas::requests {

inline constexpr meaning meaning_of_since{
    "since", "Only events of this time or later: ISO 8601, or milliseconds since the epoch"};

/// As the query of the list of deliveries. Times are texts or numbers.
struct delivery_filter {
    schemas::webhook_id webhook_id;
    std::string event_id;
    std::string resource;
    std::string event_type;
    std::string state;
    std::string error;
    json_text status;
    json_text since;
    json_text until;

    static constexpr std::array meanings{meaning_of_since};
    HERALD_DESCRIBE(webhook_id, event_id, resource, event_type, state, error, status, since, until);
};

/// Either ids, at most 100, or a filter.
struct retry_deliveries {
    std::vector<std::string> ids;
    std::optional<delivery_filter> filter;
    schemas::workspace_id workspace_id;  // of the filter; 0: the caller's default workspace
    bool dry_run = false;

    static constexpr std::string_view example = R"({"ids":["ca00345a9d8a21d2d230a73252e0b04b"]})";
    HERALD_DESCRIBE(ids, filter, workspace_id, dry_run);
};

struct retrigger_webhook_call {
    std::string call_id;

    static constexpr std::array<std::string_view, 1> required{"call_id"};
    static constexpr std::string_view example = R"({"call_id":"ca00345a9d8a21d2d230a73252e0b04b"})";
    HERALD_DESCRIBE(call_id);
};

/// Without ids and event_uuids: the newest, of these webhooks or else of the caller's default workspace.
struct find_webhook_calls {
    std::vector<std::string> ids;
    std::vector<schemas::webhook_id> webhook_ids;
    std::vector<std::string> event_uuids;
    std::vector<webhook_call_status> status;
    std::optional<schemas::pagination> pagination;

    static constexpr std::string_view example = R"({"webhook_ids":[1],"status":["FAILURE"]})";
    HERALD_DESCRIBE(ids, webhook_ids, event_uuids, status, pagination);
};

struct begin_replay {
    schemas::webhook_id webhook_id;
    json_text since;
    json_text until;
    std::vector<schemas::event_type> event_types;
    std::optional<bool> only_undelivered;
    bool dry_run = false;

    static constexpr std::array<std::string_view, 1> required{"webhook_id"};
    static constexpr std::string_view example = R"({"webhook_id":1,"since":"2026-11-20T00:00:00.000Z"})";
    static constexpr std::array meanings{meaning_of_since};
    HERALD_DESCRIBE(webhook_id, since, until, event_types, only_undelivered, dry_run);
};

}  // namespace herald::schemas::requests
