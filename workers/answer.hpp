// What a receiver's answer means (delivery.md §3). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "workers/transport.hpp"

namespace herald::workers {

enum class verdict_on_delivery : std::uint8_t {
    done,   // the receiver has it
    retry,  // another attempt, according to the schedule
    dead,   // no more attempts, for `reason`
};

struct answer_meaning {
    verdict_on_delivery delivery = verdict_on_delivery::done;
    std::string reason;            // one line for the history; empty when done
    bool disable_webhook = false;  // at once: on 410, or when the receiver asked for it
    /// No delivery of this webhook is attempted before this time; at most limits::parked_ms_max ahead.
    std::optional<std::int64_t> park_until_ms;
    bool slow_down = false;          // the lane slows down
    bool counts_as_failure = false;  // counts towards the breaker and auto-disable
};

/// Retry-After is relative to `now_ms`.
answer_meaning meaning_of(const delivery_answer&, std::int64_t now_ms);

/// Retry-After as a time: seconds from `now_ms`, or one of the three HTTP dates of RFC 9110 §5.6.7. Not
/// before `now_ms`, and at most limits::parked_ms_max after it. Empty when it is neither.
std::optional<std::int64_t> retry_after_ms(std::string_view value, std::int64_t now_ms);

}  // namespace herald::workers
