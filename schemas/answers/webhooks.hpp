// Answers about webhooks (wire.md §7): ids are numbers.
#pragma once

#include "schemas/answers/answer.hpp"
#include "schemas/glossary.hpp"
#include "schemas/webhooks.hpp"

namespace herald::schemas::answers {

/// mutual_secret is empty except in the answer to the creation.
struct webhook {
    webhook_settings settings;
    webhook_id id;
    schemas::workspace_id workspace_id;
    webhook_status status = webhook_status::enabled;
    std::string status_reason;
    std::int64_t time_created = 0;
    std::int64_t time_updated = 0;
    std::string mutual_secret;
    json_text headers;  // {name: ""}: values are never shown

    using shown_inline = webhook_settings;
    static constexpr integers style = integers::as_numbers;
    static constexpr void describe(auto& self, auto&& field) {
        webhook_settings::describe(self.settings, field);
        field(30, "id", self.id);
        field(31, "workspace_id", self.workspace_id);
        field(32, "status", self.status);
        field(33, "status_reason", self.status_reason, shown::when_set);
        field(34, "time_created", self.time_created);
        field(35, "time_updated", self.time_updated);
        field(36, "mutual_secret", self.mutual_secret);
        field(37, "headers", self.headers);
    }
};

webhook of(schemas::webhook, std::string secret);

/// The secret is shown here alone. The earlier one signs, too, until `earlier_until`; 0: it does not.
struct rotated_secret {
    schemas::webhook_id webhook_id;
    std::string mutual_secret;
    std::int64_t earlier_until = 0;

    static constexpr integers style = integers::as_numbers;
    HERALD_DESCRIBE(webhook_id, mutual_secret, earlier_until);
};

struct webhooks : page<"webhooks", webhook, integers::as_numbers> {};

/// The one attempt of a test: where it went, how long each phase took, and what was wrong.
struct test_attempt {
    std::string address;
    std::uint32_t dns_us = 0;
    std::uint32_t connect_us = 0;
    std::uint32_t tls_us = 0;
    std::uint32_t first_byte_us = 0;
    std::uint32_t total_us = 0;
    delivery_error error = delivery_error::none;

    static constexpr integers style = integers::as_numbers;
    HERALD_DESCRIBE(address, dns_us, connect_us, tls_us, first_byte_us, total_us, error);
};

struct test_result {
    std::uint16_t status_code = 0;
    test_attempt attempt;
    std::string hint;

    static constexpr integers style = integers::as_numbers;
    HERALD_DESCRIBE(status_code, attempt, hint);
};

/// The hint says what the webhook's owner might do about the answer.
test_result of(const schemas::attempt&);

struct external_event {
    event_id event_id_;
    std::string event_uuid;
    schemas::workspace_id workspace_id;
    std::int64_t time_created = 0;
    std::uint32_t audience = 0;

    static constexpr integers style = integers::as_numbers;
    static constexpr std::array meanings{meaning{"audience", "How many webhooks it is sent to"}};
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "event_id", self.event_id_);
        field(2, "event_uuid", self.event_uuid);
        field(3, "workspace_id", self.workspace_id);
        field(4, "time_created", self.time_created);
        field(5, "audience", self.audience);
    }
};

external_event of(schemas::external_event);

}  // namespace herald::schemas::answers
