// Webhooks and their health. Numbers 50 to 59 (53 is a feature flag's).
#pragma once

#include "schemas/commands/envelope.hpp"
#include "schemas/webhooks.hpp"

namespace herald::schemas::commands {

/// → webhook. workspace_id 0: the caller's default workspace. The secret is sealed.
struct create_webhook {
    static constexpr command_type type{50};
    static constexpr command_traits traits{.level = 1, .from = sender::user, .passes_full_disk = false};

    webhook_settings settings;
    std::string sealed_secret;
    std::string seal_binding;
    schemas::workspace_id workspace_id;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "settings", self.settings);
        field(2, "sealed_secret", self.sealed_secret);
        field(3, "seal_binding", self.seal_binding);
        field(4, "workspace_id", self.workspace_id);
    }
};

/// → nothing
struct delete_webhooks {
    static constexpr command_type type{51};
    static constexpr command_traits traits{.level = 1, .from = sender::user, .passes_full_disk = true};

    std::vector<webhook_id> ids;

    static constexpr void describe(auto& self, auto&& field) { field(1, "ids", self.ids); }
};

enum class webhook_condition : std::uint8_t { healthy, failing, gone };

/// From the holder of the claim "webhook-health". Ignored if its revision is not the row's. → nothing
struct webhook_health {
    static constexpr command_type type{52};
    static constexpr command_traits traits{.level = 1, .from = sender::node, .passes_full_disk = true};

    schemas::webhook_id webhook_id;
    std::uint64_t revision = 0;
    webhook_condition condition = webhook_condition::healthy;
    std::int64_t failing_since_ms = 0;
    std::string reason;
    std::uint64_t token = 0;  // of the claim

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "webhook_id", self.webhook_id);
        field(2, "revision", self.revision);
        field(3, "condition", self.condition);
        field(4, "failing_since_ms", self.failing_since_ms);
        field(5, "reason", self.reason);
        field(6, "token", self.token);
    }
};

using webhook_commands = command_list<create_webhook, delete_webhooks, webhook_health>;

}  // namespace herald::schemas::commands
