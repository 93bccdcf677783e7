// Answers about webhooks (wire.md §7): ids are numbers.
#pragma once

#include "schemas/answers/answer.hpp"
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

    static constexpr integers style = integers::as_numbers;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "webhooks", self.webhooks_);
        field(2, "total_records", self.total_records);
    }
};

struct test_result {
    std::uint16_t status_code = 0;

    static constexpr integers style = integers::as_numbers;
    static constexpr void describe(auto& self, auto&& field) { field(1, "status_code", self.status_code); }
};

}  // namespace herald::schemas::answers
