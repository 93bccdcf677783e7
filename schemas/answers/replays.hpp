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

    static constexpr std::array meanings{meaning{"by", "E-mail of who began it"}};
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

struct one_replay : one<"replay", replay_entry, integers::as_numbers> {};

struct replay_list : page<"replays", replay_entry, integers::as_numbers> {};

struct counted_webhook {
    delivery_webhook webhook;
    std::uint64_t count = 0;

    HERALD_DESCRIBE(webhook, count);
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
        HERALD_FIELDS(call_id, attempts_made, replay, count, oldest, newest, by_webhook, events_from,
                      complete_from);
        field(10, "is_partial", self.is_partial, shown::when_set);
    }
};

struct retriggered_call {
    std::string call_id;

    static constexpr integers style = integers::as_numbers;
    HERALD_DESCRIBE(call_id);
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
    HERALD_DESCRIBE(id, webhook_id, event_uuid, status, time_created, time_updated, attempts);
};

struct webhook_calls : page<"webhook_calls", webhook_call, integers::as_numbers> {};

}  // namespace herald::schemas::answers
