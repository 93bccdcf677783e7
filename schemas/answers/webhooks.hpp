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
    }
};

webhook of(schemas::webhook, std::string secret);

struct webhooks {
    std::vector<webhook> webhooks_;
    std::uint64_t total_records = 0;
    std::string next_page_token;

    static constexpr integers style = integers::as_numbers;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "webhooks", self.webhooks_);
        field(2, "total_records", self.total_records);
        field(3, "next_page_token", self.next_page_token);
    }
};

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
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "address", self.address);
        field(2, "dns_us", self.dns_us);
        field(3, "connect_us", self.connect_us);
        field(4, "tls_us", self.tls_us);
        field(5, "first_byte_us", self.first_byte_us);
        field(6, "total_us", self.total_us);
        field(7, "error", self.error);
    }
};

struct test_result {
    std::uint16_t status_code = 0;
    test_attempt attempt;
    std::string hint;

    static constexpr integers style = integers::as_numbers;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "status_code", self.status_code);
        field(2, "attempt", self.attempt);
        field(3, "hint", self.hint);
    }
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
