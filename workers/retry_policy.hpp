// When a failed delivery is tried again (delivery.md §4): the schedule, its jitter, and how a wait is
// composed of retry topics (design.md §3). The only place to change any of these. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "events/log/topics.hpp"
#include "runtime/random.hpp"

namespace herald::workers {

namespace detail {
inline constexpr std::int64_t second_ms = 1'000;
inline constexpr std::int64_t minute_ms = 60 * second_ms;
inline constexpr std::int64_t hour_ms = 60 * minute_ms;
}  // namespace detail

/// The waits after the first, second, third … failed attempt; after the last wait and attempt the delivery is
/// dead.
using retry_schedule = std::span<const std::int64_t>;
inline constexpr std::array<std::int64_t, 10> default_retry_schedule_ms{
    5 * detail::second_ms, 30 * detail::second_ms, 5 * detail::minute_ms, 30 * detail::minute_ms,
    2 * detail::hour_ms,   5 * detail::hour_ms,    10 * detail::hour_ms,  14 * detail::hour_ms,
    20 * detail::hour_ms,  24 * detail::hour_ms};

/// A retry topic: all its records wait equally long, so the head is always the next one due.
struct retry_tier {
    std::string_view topic;
    std::int64_t delay_ms;
};
inline constexpr std::array<retry_tier, 5> retry_tiers{{
    {events::log::topic::retry_5s, 5 * detail::second_ms},
    {events::log::topic::retry_30s, 30 * detail::second_ms},
    {events::log::topic::retry_5m, 5 * detail::minute_ms},
    {events::log::topic::retry_1h, detail::hour_ms},
    {events::log::topic::retry_6h, 6 * detail::hour_ms},
}};
/// A topic of deliveries that wait only for room in their lane. Each is taken as soon as there is room. One
/// that reaches the head of its topic and finds none holds up those behind it for `delay_ms` at most; then it
/// goes to the topic that fits what is still before it.
inline constexpr std::array<retry_tier, 4> waiting_tiers{{
    {events::log::topic::waiting, 0},
    {events::log::topic::waiting_5s, 5 * detail::second_ms},
    {events::log::topic::waiting_1m, detail::minute_ms},
    {events::log::topic::waiting_10m, 10 * detail::minute_ms},
}};
/// The one with the longest delay that is not longer than the wait.
std::string_view waiting_topic_for(std::int64_t wait_ms) noexcept;
/// How long a record of the topic may be at its head before it moves on; 0: it is due when it is read.
std::int64_t delay_of(std::string_view topic) noexcept;

/// Anything shorter than the shortest tier is not waited for.
inline constexpr std::int64_t retry_wait_ms_min = retry_tiers.front().delay_ms;

/// The wait after `attempts_made` (≥ 1) failed attempts; empty when the schedule is used up. Each wait in the
/// schedule is at least retry_wait_ms_min. Waits of 5 min or more are extended by up to 20 %, in whole steps
/// of the tier below the longest tier of the wait, so that jitter costs few hops.
std::optional<std::int64_t> wait_after(retry_schedule, std::uint32_t attempts_made, runtime::random_source&);

/// The first part of a wait: its tier, and how much is left after it.
struct retry_hop {
    std::size_t tier = 0;
    std::int64_t wait_left_ms = 0;

    friend bool operator==(const retry_hop&, const retry_hop&) = default;
};
/// The longest tier that is not longer than the wait; empty when the delivery is due now.
std::optional<retry_hop> next_hop(std::int64_t wait_ms) noexcept;

/// How long a delivery is put off when its receiver is in trouble but the breaker is still closed.
std::int64_t wait_of_troubled(std::uint32_t spills) noexcept;

/// How much longer a record of a retry topic waits at `now_ms` of the log's clock: until its delay after the
/// append is over, but never longer than the delay from now (the log's clock may have gone back).
std::int64_t still_to_wait_ms(std::int64_t record_time_ms, std::int64_t delay_ms,
                              std::int64_t now_ms) noexcept;

}  // namespace herald::workers
