// How webhooks fare (wire.md §7 "webhookHealth").
#pragma once

#include "schemas/answers/deliveries.hpp"

namespace herald::schemas::answers {

struct webhook_health_entry {
    delivery_webhook webhook;
    webhook_status state = webhook_status::enabled;
    std::string because;  // why it is disabled
    std::vector<last_attempt> recent;
    std::optional<double> success_rate;
    std::uint64_t p95_us = 0;
    std::uint64_t waiting = 0;
    std::string oldest_waiting;
    std::uint64_t dead = 0;
    std::uint64_t held = 0;
    std::string failing_since;

    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(webhook, state);
        field(3, "because", self.because, shown::when_set);
        field(4, "recent", self.recent);
        field(5, "success_rate", self.success_rate);
        field(6, "p95_us", self.p95_us);
        field(7, "waiting", self.waiting);
        field(8, "oldest_waiting", self.oldest_waiting, shown::when_set);
        field(9, "dead", self.dead);
        field(10, "held", self.held);
        field(11, "failing_since", self.failing_since, shown::when_set);
    }
};

struct webhook_health_list : page<"webhooks", webhook_health_entry, integers::as_numbers> {};

}  // namespace herald::schemas::answers
