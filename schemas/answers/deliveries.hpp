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

    static constexpr std::array meanings{meaning{"build", "Id of the build"}};
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

    HERALD_DESCRIBE(id, name, host);
};

struct last_attempt {
    std::string time;
    std::uint16_t status = 0;
    delivery_error error = delivery_error::none;
    std::uint32_t total_us = 0;

    HERALD_DESCRIBE(time, status, error, total_us);
};

struct next_attempt {
    std::string time;
    std::string because;

    HERALD_DESCRIBE(time, because);
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
        HERALD_FIELDS(id, event_id, event_type, resource, subject, webhook, state, attempts_max, last);
        field(10, "next_attempt", self.next);
        field(11, "time_event", self.time_event);
        field(12, "time_done", self.time_done, shown::when_set);
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

    HERALD_DESCRIBE(from, delivered, waiting, dead, held, skipped);
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
        HERALD_FIELDS(deliveries, total_records);
        field(3, "total_is_at_least", self.total_is_at_least, shown::when_set);
        field(4, "next_page_token", self.next_page_token);
        field(5, "histogram", self.histogram);
        field(6, "histogram_is_partial", self.histogram_is_partial, shown::when_set);
        field(7, "complete_from", self.complete_from);
        field(8, "bodies_kept_from", self.bodies_kept_from);
    }
};

/// Message, address, headers and body are absent for callers who only read what the event is about: a message
/// names addresses. Headers and body are absent, too, when they are no longer kept.
struct attempt_entry {
    std::uint32_t number = 0;  // 0: none was made
    std::string time;
    delivery_source source = delivery_source::event;
    attempt_result result = attempt_result::succeeded;
    std::uint16_t status = 0;
    delivery_error error = delivery_error::none;
    std::optional<std::string> message;
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
        HERALD_FIELDS(number, time, source, result, status, error, message, dns_us, connect_us, tls_us,
                      first_byte_us, total_us);
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

    HERALD_DESCRIBE(number, time);
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
    std::string request_id;
    std::string traceparent;
    std::uint64_t offset = 0;

    HERALD_DESCRIBE(who, request_id, traceparent, offset);
};

struct event_listener {
    delivery_webhook webhook;
    bool held = false;
    std::optional<delivery_state> state;  // absent: not known here
    std::string delivery_id;

    HERALD_DESCRIBE(webhook, held, state, delivery_id);
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
    HERALD_DESCRIBE(event_id, event_type, resource, subject, time_event, cause, content_type, body, audience);
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
        HERALD_FIELDS(webhook, error, status, count, first, last);
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
        HERALD_FIELDS(groups, total_records, next_page_token);
        field(4, "is_partial", self.is_partial, shown::when_set);
    }
};

}  // namespace herald::schemas::answers
