// Bodies about webhooks (wire.md §7, spec.md §4.2-4.3).
#pragma once

#include "schemas/find.hpp"
#include "schemas/requests/request.hpp"
#include "schemas/webhooks.hpp"

namespace herald::schemas::requests {

struct create_webhook {
    webhook_settings settings;
    std::string mutual_secret;
    schemas::workspace_id workspace_id;  // 0: the caller's default workspace
    json_text headers;                   // {name: value}

    using shown_inline = webhook_settings;
    static constexpr std::array<std::string_view, 2> required{"name", "location"};
    static constexpr std::string_view example =
        R"({"name":"rollout","location":"https://rollout.example.com/promote","event_types":["PROMOTE"]})";
    static constexpr void describe(auto& self, auto&& field) {
        webhook_settings::describe(self.settings, field);
        field(30, "mutual_secret", self.mutual_secret);
        field(31, "workspace_id", self.workspace_id);
        field(32, "headers", self.headers);
    }
};

/// Without a mutual_secret the secret stays.
struct update_webhook : webhook_changes {
    std::string mutual_secret;
    json_text headers;  // {name: value or null}

    using shown_inline = webhook_changes;
    static constexpr std::array<std::string_view, 1> required{"id"};
    static constexpr std::string_view example = R"({"id":1,"add_event_types":["REQUEST_SCAN"]})";
    static constexpr void describe(auto& self, auto&& field) {
        webhook_changes::describe(self, field);
        field(30, "mutual_secret", self.mutual_secret);
        field(31, "headers", self.headers);
    }
};

/// Without a new_secret one is made.
struct rotate_webhook_secret {
    schemas::webhook_id webhook_id;
    std::string new_secret;
    std::optional<std::uint32_t> overlap_seconds;

    static constexpr std::array<std::string_view, 1> required{"webhook_id"};
    static constexpr std::string_view example = R"({"webhook_id":1,"overlap_seconds":86400})";
    HERALD_DESCRIBE(webhook_id, new_secret, overlap_seconds);
};

struct set_webhook_status {
    schemas::webhook_id webhook_id;
    std::optional<webhook_status> status;

    static constexpr std::array<std::string_view, 2> required{"webhook_id", "status"};
    static constexpr std::string_view example = R"({"webhook_id":1,"status":"ENABLED"})";
    HERALD_DESCRIBE(webhook_id, status);
};

/// resource_type is a name, or an object as one of a webhook's resource_types.
struct create_event {
    std::string event_uuid;
    std::optional<schemas::event_type> event_type;
    schemas::workspace_id workspace_id;
    std::int64_t timestamp = 0;
    json_text resource_type;
    json_text original_entity;
    json_text new_entity;

    static constexpr std::array<std::string_view, 3> required{"event_uuid", "event_type", "resource_type"};
    static constexpr std::string_view example =
        R"({"event_uuid":"7f1a6b5e-3c7e-4b52-9d0e-2f7a3c1d9e55","event_type":"UPDATE",)"
        R"("resource_type":"ENDPOINT","new_entity":{"id":"7"}})";
    HERALD_DESCRIBE(event_uuid, event_type, workspace_id, timestamp, resource_type, original_entity,
                    new_entity);
};

/// An empty list selects nothing.
struct find_webhooks {
    std::vector<schemas::webhook_id> ids;
    std::vector<std::string> names;
    std::vector<schemas::workspace_id> workspace_id;
    std::vector<resource_filter> resource_types;
    std::optional<schemas::pagination> pagination;

    static constexpr std::string_view example = R"({"names":["rollout"]})";
    HERALD_DESCRIBE(ids, names, workspace_id, resource_types, pagination);
};

struct delete_webhooks {
    std::vector<webhook_id> ids;

    static constexpr std::string_view example = R"({"ids":[1]})";
    HERALD_DESCRIBE(ids);
};

struct trigger_test {
    schemas::webhook_id webhook_id;

    static constexpr std::array<std::string_view, 1> required{"webhook_id"};
    static constexpr std::string_view example = R"({"webhook_id":1})";
    HERALD_DESCRIBE(webhook_id);
};

}  // namespace herald::schemas::requests
