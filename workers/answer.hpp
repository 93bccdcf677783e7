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
    retry,  // another attempt, as the schedule says
    dead,   // no more attempts, for `reason`
};

struct answer_meaning {
    verdict_on_delivery delivery = verdict_on_delivery::done;
    std::string reason;            // unless done: for the history, one line
    bool disable_webhook = false;  // at once: 410, or the receiver asked for it
    /// No attempt of any delivery of this webhook before this time; at most limits::parked_ms_max ahead.
    std::optional<std::int64_t> park_until_ms;
    bool slow_down = false;          // the lane takes a step back
    bool counts_as_failure = false;  // towards the breaker and auto-disable
};

/// `now_ms` is the time to which Retry-After is relative.
answer_meaning meaning_of(const delivery_answer&, std::int64_t now_ms);

/// Retry-After as a time: seconds from `now_ms`, or one of the three HTTP dates of RFC 9110 §5.6.7. Not
/// before `now_ms`, at most limits::parked_ms_max after. Nothing when it is neither.
std::optional<std::int64_t> retry_after_ms(std::string_view value, std::int64_t now_ms);

}  // namespace herald::workers
