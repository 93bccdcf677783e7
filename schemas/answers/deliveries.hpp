// Answers about deliveries (wire.md §7 "Deliveries"): numbers are numbers, times ISO 8601 in milliseconds.
#pragma once

#include <utility>

#include "schemas/answers/answer.hpp"
#include "schemas/deliveries.hpp"
#include "schemas/glossary.hpp"

namespace herald::schemas::answers {

/// What happened to an attempt, in words, and what to do about it: one table by error class and status.
struct delivery_words {
    std::string sentence;
    std::string advice;
};
delivery_words words_about(delivery_error, std::uint16_t status);

/// The names of what the event is about; empty where it is gone.
struct delivery_subject {
    std::string model;
    std::string version;
    std::string build;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "model", self.model, shown::when_set);
        field(2, "version", self.version, shown::when_set);
        field(3, "build", self.build, shown::when_set);
    }
};

/// Name and host are empty where it was deleted.
struct delivery_webhook {
    webhook_id id;
    std::string name;
    std::string host;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "id", self.id);
        field(2, "name", self.name);
        field(3, "host", self.host);
    }
};

struct last_attempt {
    std::string time;
    std::uint16_t status = 0;
    delivery_error error = delivery_error::none;
    std::uint32_t total_us = 0;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "time", self.time);
        field(2, "status", self.status);
        field(3, "error", self.error);
        field(4, "total_us", self.total_us);
    }
};

struct next_attempt {
    std::string time;
    std::string because;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "time", self.time);
        field(2, "because", self.because);
    }
};

/// All that lists and details have alike: without the attempts.
struct delivery_core {
    std::string id;
    schemas::event_id event_id;
    schemas::event_type event_type = schemas::event_type::create;
    std::string resource;
    delivery_subject subject;
    delivery_webhook webhook;
    delivery_state state = delivery_state::waiting;
    std::uint32_t attempts_max = 0;
    std::optional<last_attempt> last;
    std::optional<answers::next_attempt> next;
    std::string time_event;
    std::string time_done;

    static constexpr std::array meanings{meaning{"last", "The newest attempt"}};
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "id", self.id);
        field(2, "event_id", self.event_id);
        field(3, "event_type", self.event_type);
        field(4, "resource", self.resource);
        field(5, "subject", self.subject);
        field(6, "webhook", self.webhook);
        field(7, "state", self.state);
        field(8, "attempts_max", self.attempts_max);
        field(10, "last", self.last);
        field(11, "next_attempt", self.next);
        field(12, "time_event", self.time_event);
        field(13, "time_done", self.time_done, shown::when_set);
    }
};

struct delivery_entry {
    delivery_core core;
    std::uint32_t attempts = 0;

    using shown_inline = delivery_core;
    static constexpr std::array meanings{meaning{"attempts", "How many attempts were made"}};
    static constexpr void describe(auto& self, auto&& field) {
        delivery_core::describe(self.core, field);
        field(30, "attempts", self.attempts);
    }
};

struct histogram_entry {
    std::string from;
    std::uint64_t delivered = 0;
    std::uint64_t waiting = 0;
    std::uint64_t dead = 0;
    std::uint64_t held = 0;
    std::uint64_t skipped = 0;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "from", self.from);
        field(2, "delivered", self.delivered);
        field(3, "waiting", self.waiting);
        field(4, "dead", self.dead);
        field(5, "held", self.held);
        field(6, "skipped", self.skipped);
    }
};

struct delivery_list {
    std::vector<delivery_entry> deliveries;
    std::uint64_t total_records = 0;
    bool total_is_at_least = false;
    std::string next_page_token;
    std::optional<std::vector<histogram_entry>> histogram;
    bool histogram_is_partial = false;
    std::string complete_from;
    std::string bodies_kept_from;

    static constexpr integers style = integers::as_numbers;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "deliveries", self.deliveries);
        field(2, "total_records", self.total_records);
        field(3, "total_is_at_least", self.total_is_at_least, shown::when_set);
        field(4, "next_page_token", self.next_page_token);
        field(5, "histogram", self.histogram);
        field(6, "histogram_is_partial", self.histogram_is_partial, shown::when_set);
        field(7, "complete_from", self.complete_from);
        field(8, "bodies_kept_from", self.bodies_kept_from);
    }
};

/// Address, headers and body are absent for callers who only read what the event is about, and when they are
/// no longer kept.
struct attempt_entry {
    std::uint32_t number = 0;  // 0: none was made
    std::string time;
    delivery_source source = delivery_source::event;
    attempt_result result = attempt_result::succeeded;
    std::uint16_t status = 0;
    delivery_error error = delivery_error::none;
    std::string message;
    std::uint32_t dns_us = 0;
    std::uint32_t connect_us = 0;
    std::uint32_t tls_us = 0;
    std::uint32_t first_byte_us = 0;
    std::uint32_t total_us = 0;
    std::string next_time;
    std::optional<std::string> address;
    std::optional<std::string> request_headers;
    std::optional<std::string> response_headers;
    std::optional<std::string> response_body;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "number", self.number);
        field(2, "time", self.time);
        field(3, "source", self.source);
        field(4, "result", self.result);
        field(5, "status", self.status);
        field(6, "error", self.error);
        field(7, "message", self.message);
        field(8, "dns_us", self.dns_us);
        field(9, "connect_us", self.connect_us);
        field(10, "tls_us", self.tls_us);
        field(11, "first_byte_us", self.first_byte_us);
        field(12, "total_us", self.total_us);
        field(13, "next_time", self.next_time, shown::when_set);
        field(14, "address", self.address);
        field(15, "request_headers", self.request_headers);
        field(16, "response_headers", self.response_headers);
        field(17, "response_body", self.response_body);
    }
};

struct scheduled_attempt {
    std::uint32_t number = 0;
    std::string time;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "number", self.number);
        field(2, "time", self.time);
    }
};

struct delivery_in_full {
    delivery_core core;
    std::vector<attempt_entry> attempts;
    std::vector<scheduled_attempt> schedule;
    std::string sentence;
    std::string advice;

    using shown_inline = delivery_core;
    static constexpr integers style = integers::as_numbers;
    static constexpr std::array meanings{meaning{"attempts", "All that are kept, oldest first"}};
    static constexpr void describe(auto& self, auto&& field) {
        delivery_core::describe(self.core, field);
        field(30, "attempts", self.attempts);
        field(31, "schedule", self.schedule);
        field(32, "sentence", self.sentence);
        field(33, "advice", self.advice);
    }
};

struct event_cause {
    std::string who;  // an e-mail; empty: Herald itself
    std::string traceparent;
    std::uint64_t offset = 0;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "who", self.who);
        field(2, "traceparent", self.traceparent);
        field(3, "offset", self.offset);
    }
};

struct event_listener {
    delivery_webhook webhook;
    bool held = false;
    std::optional<delivery_state> state;  // absent: not known here
    std::string delivery_id;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "webhook", self.webhook);
        field(2, "held", self.held);
        field(3, "state", self.state);
        field(4, "delivery_id", self.delivery_id);
    }
};

struct event_in_full {
    schemas::event_id event_id;
    schemas::event_type event_type = schemas::event_type::create;
    std::string resource;
    delivery_subject subject;
    std::string time_event;
    event_cause cause;
    std::string content_type;
    std::optional<std::string> body;  // exactly as it is sent; absent for readers
    std::vector<event_listener> audience;

    static constexpr integers style = integers::as_numbers;
    static constexpr std::array meanings{meaning{"audience", "The webhooks that matched when it happened"}};
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "event_id", self.event_id);
        field(2, "event_type", self.event_type);
        field(3, "resource", self.resource);
        field(4, "subject", self.subject);
        field(5, "time_event", self.time_event);
        field(6, "cause", self.cause);
        field(7, "content_type", self.content_type);
        field(8, "body", self.body);
        field(9, "audience", self.audience);
    }
};

struct dead_entry {
    delivery_webhook webhook;
    delivery_error error = delivery_error::none;
    std::uint16_t status = 0;
    std::uint64_t count = 0;
    std::string first;
    std::string last;
    std::string example_id;

    static constexpr std::array meanings{meaning{"first", "Time of the oldest event, ISO 8601"},
                                         meaning{"last", "Time of the newest event, ISO 8601"},
                                         meaning{"example", "Id of the newest delivery"}};
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "webhook", self.webhook);
        field(2, "error", self.error);
        field(3, "status", self.status);
        field(4, "count", self.count);
        field(5, "first", self.first);
        field(6, "last", self.last);
        field(7, "example", self.example_id);
    }
};

struct dead_list {
    std::vector<dead_entry> groups;
    std::uint64_t total_records = 0;
    std::string next_page_token;  // always empty: there are few
    bool is_partial = false;

    static constexpr integers style = integers::as_numbers;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "groups", self.groups);
        field(2, "total_records", self.total_records);
        field(3, "next_page_token", self.next_page_token);
        field(4, "is_partial", self.is_partial, shown::when_set);
    }
};

}  // namespace herald::schemas::answers
