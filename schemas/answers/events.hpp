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

    HERALD_DESCRIBE(key, value);
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

    HERALD_DESCRIBE(id, registered_model_id, version, time_created, time_updated, readme_text, owner,
                    attributes, stage, lock_level, version_number);
};

struct scanned_build {
    schemas::build_id build_id;
    std::string imageurl;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "buildID", self.build_id);
        field(2, "imageurl", self.imageurl);
    }
};

/// What the bodies of all other events begin with.
struct event_head {
    std::string id;
    std::string timestamp;
    std::string event_type;
    std::string resource_type;
    schemas::workspace_id workspace_id;

    using shown_inline = event_head;
    static constexpr integers style = integers::as_numbers;
    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(id, timestamp, event_type, resource_type);
        field(5, "workspaceID", self.workspace_id);
    }
};

/// The body of REQUEST_SCAN.
struct request_scan_event : event_head {
    scanned_build updated;

    static constexpr void describe(auto& self, auto&& field) {
        event_head::describe(self, field);
        field(30, "updated", self.updated);
    }
};

/// The body of CREATE, READ, UPDATE and DELETE.
struct resource_event : event_head {
    json_text original;
    json_text updated;

    static constexpr std::array meanings{
        meaning{"original", "What the event is about, as it was: not of CREATE", 0}};
    static constexpr void describe(auto& self, auto&& field) {
        event_head::describe(self, field);
        field(30, "original", self.original, shown::when_set);
        field(31, "updated", self.updated, shown::when_set);
    }
};

struct shown_transition {
    std::uint64_t id = 0;
    std::string source_stage;
    std::string desired_stage;
    std::string state;
    std::string comment;

    HERALD_DESCRIBE(id, source_stage, desired_stage, state, comment);
};

struct shown_name {
    std::uint64_t id = 0;
    std::string name;

    HERALD_DESCRIBE(id, name);
};

struct shown_person {
    std::uint64_t id = 0;
    std::string name;
    std::string email;

    HERALD_DESCRIBE(id, name, email);
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
    static constexpr std::array meanings{meaning{"by", "Who did this step", 0}};
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

    HERALD_DESCRIBE(id, name, host);
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
        meaning{"condition",
                "failing: at least 10 attempts in at least 10 minutes, and all of them failed; disabling: it "
                "is disabled in 24 hours unless an attempt succeeds; disabled; recovered",
                0},
        meaning{"since", "When the failures began, ISO 8601", 0}};
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
struct test_event : event_head {
    std::string message;
    json_text example_;

    static constexpr std::array meanings{
        meaning{"example", "What the first type of event that the webhook hears would show", 0}};
    static constexpr void describe(auto& self, auto&& field) {
        event_head::describe(self, field);
        field(30, "message", self.message);
        field(31, "example", self.example_);
    }
};

}  // namespace herald::schemas::answers
