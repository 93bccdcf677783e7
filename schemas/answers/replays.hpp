// Answers about deliveries that are sent again (wire.md §7 "Deliveries").
#pragma once

#include "schemas/answers/deliveries.hpp"
#include "schemas/webhook_calls.hpp"

namespace herald::schemas::answers {

struct replay_entry {
    replay_id id;
    schemas::webhook_id webhook_id;
    replay_state state = replay_state::running;
    std::string reason;
    std::uint64_t total = 0;
    std::uint64_t sent = 0;
    std::uint64_t delivered = 0;
    std::uint64_t failed = 0;
    std::string time_begun;
    std::string time_ended;
    std::string by;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "id", self.id);
        field(2, "webhook_id", self.webhook_id, shown::when_set);
        field(3, "state", self.state);
        field(4, "reason", self.reason, shown::when_set);
        field(5, "total", self.total);
        field(6, "sent", self.sent);
        field(7, "delivered", self.delivered);
        field(8, "failed", self.failed);
        field(9, "time_begun", self.time_begun);
        field(10, "time_ended", self.time_ended, shown::when_set);
        field(11, "by", self.by);
    }
};

struct one_replay {
    replay_entry replay;

    static constexpr integers style = integers::as_numbers;
    static constexpr void describe(auto& self, auto&& field) { field(1, "replay", self.replay); }
};

struct replay_list {
    std::vector<replay_entry> replays;
    std::uint64_t total_records = 0;
    std::string next_page_token;  // always empty: there are few

    static constexpr integers style = integers::as_numbers;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "replays", self.replays);
        field(2, "total_records", self.total_records);
        field(3, "next_page_token", self.next_page_token);
    }
};

struct counted_webhook {
    delivery_webhook webhook;
    std::uint64_t count = 0;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "webhook", self.webhook);
        field(2, "count", self.count);
    }
};

/// Of one delivery: call_id and attempts_made. Of several: the replay that sends them. Of a dry run: what
/// would be sent.
struct sent_again {
    std::optional<std::string> call_id;
    std::optional<std::uint32_t> attempts_made;
    std::optional<replay_entry> replay;
    std::optional<std::uint64_t> count;
    std::optional<std::string> oldest;
    std::optional<std::string> newest;
    std::optional<std::vector<counted_webhook>> by_webhook;
    std::optional<std::string> events_from;
    std::optional<std::string> complete_from;
    bool is_partial = false;

    static constexpr integers style = integers::as_numbers;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "call_id", self.call_id);
        field(2, "attempts_made", self.attempts_made);
        field(3, "replay", self.replay);
        field(4, "count", self.count);
        field(5, "oldest", self.oldest);
        field(6, "newest", self.newest);
        field(7, "by_webhook", self.by_webhook);
        field(8, "events_from", self.events_from);
        field(9, "complete_from", self.complete_from);
        field(10, "is_partial", self.is_partial, shown::when_set);
    }
};

struct retriggered_call {
    std::string call_id;

    static constexpr integers style = integers::as_numbers;
    static constexpr void describe(auto& self, auto&& field) { field(1, "call_id", self.call_id); }
};

struct webhook_call {
    std::string id;
    schemas::webhook_id webhook_id;
    std::string event_uuid;
    webhook_call_status status = webhook_call_status::unknown;
    std::string time_created;
    std::string time_updated;
    std::vector<attempt_entry> attempts;

    static constexpr std::array meanings{meaning{"attempts", "All that are kept, oldest first"}};
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "id", self.id);
        field(2, "webhook_id", self.webhook_id);
        field(3, "event_uuid", self.event_uuid);
        field(4, "status", self.status);
        field(5, "time_created", self.time_created);
        field(6, "time_updated", self.time_updated);
        field(7, "attempts", self.attempts);
    }
};

struct webhook_calls {
    std::vector<webhook_call> calls;
    std::uint64_t total_records = 0;
    std::string next_page_token;

    static constexpr integers style = integers::as_numbers;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "webhook_calls", self.calls);
        field(2, "total_records", self.total_records);
        field(3, "next_page_token", self.next_page_token);
    }
};

}  // namespace herald::schemas::answers
