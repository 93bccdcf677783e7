// What an API node's history keeps of deliveries (wire.md §7 "Deliveries").
#pragma once

#include "schemas/webhooks.hpp"

namespace herald::schemas {

enum class delivery_state : std::uint8_t { waiting, delivered, dead, held, skipped };
template <>
inline constexpr auto enum_names<delivery_state> =
    in_order<delivery_state>("waiting", "delivered", "dead", "held", "skipped");

constexpr delivery_state state_after(attempt_result result) noexcept {
    switch (result) {
        case attempt_result::succeeded:
            return delivery_state::delivered;
        case attempt_result::dead:
            return delivery_state::dead;
        case attempt_result::skipped:
            return delivery_state::skipped;
        case attempt_result::held:
            return delivery_state::held;
        case attempt_result::will_retry:
            break;
    }
    return delivery_state::waiting;
}

/// What came of a delivery last. Of a test there is a row, too, but no list has it.
struct delivery_row {
    std::string id;
    schemas::webhook_id webhook_id;
    schemas::event_id event_id;
    schemas::event_type event_type = schemas::event_type::create;
    schemas::resource_type resource_type = schemas::resource_type::none;
    std::string resource_id;
    schemas::workspace_id workspace_id;
    std::int64_t time_event_ms = 0;
    delivery_state state = delivery_state::waiting;
    std::uint32_t attempts = 0;
    // Of the newest attempt, or of what took its place:
    std::int64_t last_ms = 0;  // 0: there was none
    std::uint16_t last_status = 0;
    delivery_error last_error = delivery_error::none;
    std::uint32_t last_total_us = 0;
    std::string last_message;
    std::int64_t next_attempt_ms = 0;  // 0: not known, or there is none
    std::int64_t time_done_ms = 0;     // 0: it waits
    delivery_source last_source = delivery_source::event;

    friend bool operator==(const delivery_row&, const delivery_row&) = default;
    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(id, webhook_id, event_id, event_type, resource_type, resource_id, workspace_id,
                      time_event_ms, state, attempts, last_ms, last_status, last_error, last_total_us,
                      last_message, next_attempt_ms);
        field(17, "time_done_ms", self.time_done_ms);
        field(18, "last_source", self.last_source);
    }
};

/// The large parts of an attempt, which go first when the history grows too large.
struct attempt_bodies {
    std::string request_headers;
    std::string response_headers;
    std::string response_body;

    HERALD_DESCRIBE(request_headers, response_headers, response_body);
};

/// How a webhook fared lately: at most limits::recent_attempts_kept, the newest last.
struct recent_attempt {
    std::int64_t time_ms = 0;
    std::uint16_t status = 0;
    delivery_error error = delivery_error::none;
    std::uint32_t total_us = 0;

    HERALD_DESCRIBE(time_ms, status, error, total_us);
};
struct recent_attempts {
    std::vector<recent_attempt> attempts;

    HERALD_DESCRIBE(attempts);
};

/// The attempts at a webhook within an hour; their times in latency_buckets, as many as are in use.
struct attempts_of_hour {
    std::uint64_t succeeded = 0;
    std::uint64_t failed = 0;
    std::vector<std::uint64_t> total_us_buckets;

    HERALD_DESCRIBE(succeeded, failed, total_us_buckets);
};

/// What came of a replay's deliveries: each counts once, by its newest attempt.
struct replay_outcomes {
    std::uint64_t delivered = 0;
    std::uint64_t failed = 0;

    friend bool operator==(const replay_outcomes&, const replay_outcomes&) = default;
    HERALD_DESCRIBE(delivered, failed);
};

/// From the first to the last; {0, 0}: attempts without an answer.
struct status_range {
    std::uint16_t first = 0;
    std::uint16_t last = 0;

    friend bool operator==(const status_range&, const status_range&) = default;
    HERALD_DESCRIBE(first, last);
};

/// Which deliveries of a workspace a list shows, or a replay sends. What is empty lets all through.
struct delivery_filter {
    schemas::workspace_id workspace_id;
    schemas::webhook_id webhook_id;
    schemas::event_id event_id;
    schemas::resource_type resource_type = schemas::resource_type::none;  // none: about anything
    std::string resource_id;
    std::optional<schemas::event_type> event_type;
    std::vector<delivery_state> states;
    std::optional<delivery_error> error;
    std::optional<status_range> status;
    std::int64_t since_ms = 0;          // time of the event, inclusive
    std::int64_t until_ms = INT64_MAX;  // exclusive

    friend bool operator==(const delivery_filter&, const delivery_filter&) = default;
    HERALD_DESCRIBE(workspace_id, webhook_id, event_id, resource_type, resource_id, event_type, states, error,
                    status, since_ms, until_ms);
};

/// A delivery by what its id is made of.
struct event_for_webhook {
    schemas::event_id event_id;
    schemas::webhook_id webhook_id;

    friend bool operator==(const event_for_webhook&, const event_for_webhook&) = default;
    HERALD_DESCRIBE(event_id, webhook_id);
};

enum class replay_state : std::uint8_t { running, paused, done, cancelled, failed };
template <>
inline constexpr auto enum_names<replay_state> =
    in_order<replay_state>("RUNNING", "PAUSED", "DONE", "CANCELLED", "FAILED");
constexpr bool has_ended(replay_state state) noexcept {
    return state != replay_state::running && state != replay_state::paused;
}

using replay_id = id<struct replay_kind>;

/// What a replay sends: `picked` if there are any; else what the history's lists show for `filter`, if there
/// is one; else the kept events that the webhook, as it is when the replay begins, would hear.
struct replay_scope {
    schemas::webhook_id webhook_id;  // 0: of any of the workspace
    std::int64_t since_ms = 0;
    std::int64_t until_ms = 0;            // the time when it began, if that is earlier
    std::vector<event_type> event_types;  // empty: all
    bool only_undelivered = true;
    std::vector<event_for_webhook> picked;
    std::optional<delivery_filter> filter;

    HERALD_DESCRIBE(webhook_id, since_ms, until_ms, event_types, only_undelivered, picked, filter);
};

/// How far a replay is; the holder of the claim says so.
struct replay_progress {
    binary_text cursor;  // where it goes on; empty: at the beginning
    bool is_at_end = false;
    bool is_counted = false;
    std::uint64_t total = 0;
    std::uint64_t sent = 0;
    replay_outcomes outcomes;  // as the holder's history knows them

    HERALD_DESCRIBE(cursor, is_at_end, is_counted, total, sent, outcomes);
};

struct replay {
    replay_id id;
    schemas::workspace_id workspace_id;
    replay_scope scope;
    webhook_settings settings;  // of its webhook, as the replay began
    replay_state state = replay_state::running;
    std::string reason;  // why it failed
    replay_progress progress;
    std::int64_t time_begun = 0;
    std::int64_t time_ended = 0;  // 0: it has not
    user_id by;

    HERALD_DESCRIBE(id, workspace_id, scope, settings, state, reason, progress, time_begun, time_ended, by);
};

}  // namespace herald::schemas
