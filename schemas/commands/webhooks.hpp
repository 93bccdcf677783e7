// Webhooks, their health, and events that others report. Numbers 50 to 59 (53 is a feature flag's).
#pragma once

#include "schemas/commands/envelope.hpp"
#include "schemas/commands/limits.hpp"
#include "schemas/webhooks.hpp"

namespace herald::schemas::commands {

/// → webhook. workspace_id 0: the caller's default workspace. The secret is sealed.
struct create_webhook {
    static constexpr command_type type{50};

    webhook_settings settings;
    std::string sealed_secret;
    std::string seal_binding;
    schemas::workspace_id workspace_id;
    std::vector<webhook_header> headers;

    HERALD_DESCRIBE(settings, sealed_secret, seal_binding, workspace_id, headers);
};

/// → nothing
struct delete_webhooks {
    static constexpr command_type type{51};
    static constexpr command_traits traits{.passes_full_disk = true};

    std::vector<webhook_id> ids;

    HERALD_DESCRIBE(ids);
};

/// What failures of a webhook, with no success between them, add up to (delivery.md §4, wire.md §7 "Events").
struct failures_meaning {
    bool is_failing = false;   // others are to be told
    bool may_disable = false;  // it may be disabled when they go on
};
/// Others are told by what is so now, also when the next attempt is far off.
constexpr failures_meaning meaning_of_failures(std::int64_t since_ms, std::int64_t until_ms,
                                               std::uint32_t attempts, std::int64_t now_ms) noexcept {
    return {attempts >= limits::webhook_failing_attempts_min &&
                since_ms <= now_ms - limits::webhook_failing_span_ms_min,
            since_ms <= until_ms - limits::webhook_disable_span_ms_min};
}

enum class webhook_condition : std::uint8_t { healthy, failing, gone };

/// From the holder of the claim "webhook-health", again when more attempts have failed. Ignored if its
/// revision is not the row's. → nothing
struct webhook_health {
    static constexpr command_type type{52};
    static constexpr command_traits traits{.from = sender::node, .passes_full_disk = true};

    schemas::webhook_id webhook_id;
    std::uint64_t revision = 0;
    webhook_condition condition = webhook_condition::healthy;
    std::int64_t failing_since_ms = 0;
    std::string reason;
    std::uint64_t token = 0;           // of the claim
    std::int64_t failed_until_ms = 0;  // the newest failure that is known
    /// Failed attempts that are known; of a webhook that is gone, whether it was an attempt that counts.
    /// Those with WEBHOOK_HEALTH do not count.
    std::uint32_t failed_attempts = 0;

    HERALD_DESCRIBE(webhook_id, revision, condition, failing_since_ms, reason, token, failed_until_ms,
                    failed_attempts);
};

/// → webhook
struct update_webhook : webhook_changes {
    static constexpr command_type type{54};

    std::string sealed_secret;  // empty: the secret stays
    std::string seal_binding;
    bool clear_headers = false;            // before the next two
    std::vector<webhook_header> headers;   // to add, or in place of those with their names
    std::vector<std::string> not_headers;  // names to remove

    using shown_inline = webhook_changes;
    static constexpr void describe(auto& self, auto&& field) {
        webhook_changes::describe(self, field);
        field(30, "sealed_secret", self.sealed_secret);
        field(31, "seal_binding", self.seal_binding);
        field(32, "clear_headers", self.clear_headers);
        field(33, "headers", self.headers);
        field(34, "not_headers", self.not_headers);
    }
};

/// → webhook. The secret that it replaces signs, too, until the overlap is over; one before that no more.
struct rotate_webhook_secret {
    static constexpr command_type type{57};
    static constexpr command_traits traits{.passes_full_disk = true};

    schemas::webhook_id webhook_id;
    std::string sealed_secret;
    std::string seal_binding;
    std::uint32_t overlap_seconds = 0;

    HERALD_DESCRIBE(webhook_id, sealed_secret, seal_binding, overlap_seconds);
};

/// → webhook. Enabling clears the reason and the failures.
struct set_webhook_status {
    static constexpr command_type type{55};
    static constexpr command_traits traits{.passes_full_disk = true};

    schemas::webhook_id webhook_id;
    webhook_status status = webhook_status::enabled;

    HERALD_DESCRIBE(webhook_id, status);
};

/// → external_event. An event that another system reports; a repeat of its event_uuid returns the first.
struct create_event {
    static constexpr command_type type{56};

    std::string event_uuid;
    schemas::event_type event_type = schemas::event_type::create;
    schemas::workspace_id workspace_id;  // 0: the caller's default workspace
    std::int64_t timestamp = 0;          // 0: when it is applied
    schemas::resource_type resource_type = schemas::resource_type::none;
    std::string resource_id;  // of the entity, as it says itself; empty: it does not
    json_text original_entity;
    json_text new_entity;

    HERALD_DESCRIBE(event_uuid, event_type, workspace_id, timestamp, resource_type, resource_id,
                    original_entity, new_entity);
};

using webhook_commands = command_list<create_webhook, delete_webhooks, webhook_health, update_webhook,
                                      set_webhook_status, create_event, rotate_webhook_secret>;

}  // namespace herald::schemas::commands
