// The bodies that subscribers are sent (wire.md "Events"), for the OpenAPI document; schemas/views.cpp and
// the rules make the bytes.
#pragma once

#include "schemas/answers/answer.hpp"
#include "schemas/enums.hpp"
#include "schemas/glossary.hpp"

namespace herald::schemas::answers {

struct promoted_attribute {
    std::string key;
    std::string value;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "key", self.key);
        field(2, "value", self.value);
    }
};

/// The body of PROMOTE: the version as it was promoted.
struct promote_event {
    version_id id;
    model_id registered_model_id;
    std::string version;
    std::string time_created;
    std::string time_updated;
    std::string readme_text;
    user_id owner;
    std::vector<promoted_attribute> attributes;
    schemas::stage stage = schemas::stage::production;
    schemas::lock_level lock_level = schemas::lock_level::open;
    std::string version_number;

    static constexpr integers style = integers::as_strings;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "id", self.id);
        field(2, "registered_model_id", self.registered_model_id);
        field(3, "version", self.version);
        field(4, "time_created", self.time_created);
        field(5, "time_updated", self.time_updated);
        field(6, "readme_text", self.readme_text);
        field(7, "owner", self.owner);
        field(8, "attributes", self.attributes);
        field(9, "stage", self.stage);
        field(10, "lock_level", self.lock_level);
        field(11, "version_number", self.version_number);
    }
};

struct scanned_build {
    schemas::build_id build_id;
    std::string imageurl;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "buildID", self.build_id);
        field(2, "imageurl", self.imageurl);
    }
};

/// The body of REQUEST_SCAN.
struct request_scan_event {
    std::string id;
    std::string timestamp;
    std::string event_type;
    std::string resource_type;
    schemas::workspace_id workspace_id;
    scanned_build updated;

    static constexpr integers style = integers::as_numbers;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "id", self.id);
        field(2, "timestamp", self.timestamp);
        field(3, "event_type", self.event_type);
        field(4, "resource_type", self.resource_type);
        field(5, "workspaceID", self.workspace_id);
        field(6, "updated", self.updated);
    }
};

/// The body of CREATE, READ, UPDATE and DELETE.
struct resource_event {
    std::string id;
    std::string timestamp;
    std::string event_type;
    std::string resource_type;
    schemas::workspace_id workspace_id;
    json_text original;
    json_text updated;

    static constexpr integers style = integers::as_numbers;
    static constexpr std::array meanings{
        meaning{"original", "What the event is about, as it was: not of CREATE", 0}};
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "id", self.id);
        field(2, "timestamp", self.timestamp);
        field(3, "event_type", self.event_type);
        field(4, "resource_type", self.resource_type);
        field(5, "workspaceID", self.workspace_id);
        field(6, "original", self.original, shown::when_set);
        field(7, "updated", self.updated, shown::when_set);
    }
};

struct shown_transition {
    std::uint64_t id = 0;
    std::string source_stage;
    std::string desired_stage;
    std::string state;
    std::string comment;

    static constexpr std::array meanings{meaning{"id", "The id of the activity that opened it", 0},
                                         meaning{"comment", "What was said with this step", 0},
                                         meaning{"state", "After this step", 0}};
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "id", self.id);
        field(2, "source_stage", self.source_stage);
        field(3, "desired_stage", self.desired_stage);
        field(4, "state", self.state);
        field(5, "comment", self.comment);
    }
};

struct shown_name {
    std::uint64_t id = 0;
    std::string name;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "id", self.id);
        field(2, "name", self.name);
    }
};

struct shown_person {
    std::uint64_t id = 0;
    std::string name;
    std::string email;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "id", self.id);
        field(2, "name", self.name);
        field(3, "email", self.email);
    }
};

/// The body of TRANSITION.
struct transition_event {
    std::string id;
    std::string timestamp;
    std::string event_type;
    std::string resource_type;
    schemas::workspace_id workspace_id;
    std::string action;
    shown_transition transition;
    shown_name model;
    shown_name version;
    shown_person by;
    shown_person requested_by;

    static constexpr integers style = integers::as_numbers;
    static constexpr std::array meanings{
        meaning{"action", "requested, approved, rejected, closed or committed", 0},
        meaning{"model", "Whose version it is", 0}, meaning{"version", "Whose stage changes", 0},
        meaning{"by", "Who did this step", 0}, meaning{"requested_by", "Who asked for the transition", 0}};
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "id", self.id);
        field(2, "timestamp", self.timestamp);
        field(3, "event_type", self.event_type);
        field(4, "resource_type", self.resource_type);
        field(5, "workspaceID", self.workspace_id);
        field(6, "action", self.action);
        field(7, "transition", self.transition);
        field(8, "model", self.model);
        field(9, "version", self.version);
        field(10, "by", self.by);
        field(11, "requested_by", self.requested_by);
    }
};

struct shown_webhook {
    std::uint64_t id = 0;
    std::string name;
    std::string host;

    static constexpr std::array meanings{meaning{"host", "Of its location, with the port if it has one", 0}};
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "id", self.id);
        field(2, "name", self.name);
        field(3, "host", self.host);
    }
};

/// The body of WEBHOOK_HEALTH.
struct webhook_health_event {
    std::string id;
    std::string timestamp;
    std::string event_type;
    std::string resource_type;
    schemas::workspace_id workspace_id;
    shown_webhook webhook;
    std::string condition;
    std::string since;
    std::string reason;

    static constexpr integers style = integers::as_numbers;
    static constexpr std::array meanings{
        meaning{"webhook", "Whose receiver it is about", 0},
        meaning{"condition",
                "failing: at least 10 attempts in at least 10 minutes, and all of them failed; disabling: it "
                "is disabled in 24 hours unless an attempt succeeds; disabled; recovered",
                0},
        meaning{"since", "When the failures began, ISO 8601", 0}, meaning{"reason", "Why, for people", 0}};
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "id", self.id);
        field(2, "timestamp", self.timestamp);
        field(3, "event_type", self.event_type);
        field(4, "resource_type", self.resource_type);
        field(5, "workspaceID", self.workspace_id);
        field(6, "webhook", self.webhook);
        field(7, "condition", self.condition);
        field(8, "since", self.since);
        field(9, "reason", self.reason);
    }
};

/// The body of a test, which shows an event that the webhook would hear.
struct test_event {
    std::string id;
    std::string timestamp;
    std::string event_type;
    std::string resource_type;
    schemas::workspace_id workspace_id;
    std::string message;
    json_text example_;

    static constexpr integers style = integers::as_numbers;
    static constexpr std::array meanings{
        meaning{"example", "What the first type of event that the webhook hears would show", 0}};
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "id", self.id);
        field(2, "timestamp", self.timestamp);
        field(3, "event_type", self.event_type);
        field(4, "resource_type", self.resource_type);
        field(5, "workspaceID", self.workspace_id);
        field(6, "message", self.message);
        field(7, "example", self.example_);
    }
};

}  // namespace herald::schemas::answers
