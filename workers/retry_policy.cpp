// The retry schedule as pure functions.
#include "workers/retry_policy.hpp"

#include <algorithm>

#include "runtime/assert.hpp"

namespace herald::workers {

namespace {

constexpr std::int64_t jitter_from_ms = 5 * detail::minute_ms;
constexpr std::int64_t jitter_percent_max = 20;

/// The longest tier not longer than the wait. Needs wait_ms ≥ retry_wait_ms_min.
std::size_t longest_tier(std::int64_t wait_ms) noexcept {
    std::size_t tier = 0;
    while (tier + 1 < retry_tiers.size() && retry_tiers[tier + 1].delay_ms <= wait_ms) ++tier;
    return tier;
}

}  // namespace

std::string_view waiting_topic_for(std::int64_t wait_ms) noexcept {
    std::size_t tier = 0;
    while (tier + 1 < waiting_tiers.size() && waiting_tiers[tier + 1].delay_ms <= wait_ms) ++tier;
    return waiting_tiers[tier].topic;
}

std::int64_t delay_of(std::string_view topic) noexcept {
    for (const retry_tier& tier : retry_tiers)
        if (tier.topic == topic) return tier.delay_ms;
    for (const retry_tier& tier : waiting_tiers)
        if (tier.topic == topic) return tier.delay_ms;
    return 0;
}

std::optional<std::int64_t> wait_after(retry_schedule schedule_ms, std::uint32_t attempts_made,
                                       runtime::random_source& random) {
    HERALD_ASSERT(attempts_made > 0);
    if (attempts_made > schedule_ms.size()) return std::nullopt;
    const std::int64_t wait_ms = schedule_ms[attempts_made - 1];
    if (wait_ms < jitter_from_ms) return wait_ms;
    const std::int64_t step_ms = retry_tiers[longest_tier(wait_ms) - 1].delay_ms;
    const std::int64_t steps_max = wait_ms * jitter_percent_max / 100 / step_ms;
    const auto steps = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(steps_max) + 1));
    return wait_ms + steps * step_ms;
}

std::optional<retry_hop> next_hop(std::int64_t wait_ms) noexcept {
    if (wait_ms < retry_wait_ms_min) return std::nullopt;
    const std::size_t tier = longest_tier(wait_ms);
    return retry_hop{tier, wait_ms - retry_tiers[tier].delay_ms};
}

std::int64_t wait_of_troubled(std::uint32_t spills) noexcept {
    return retry_tiers[spills == 0 ? 0 : 1].delay_ms;
}

std::int64_t still_to_wait_ms(std::int64_t record_time_ms, std::int64_t delay_ms,
                              std::int64_t now_ms) noexcept {
    return std::clamp(record_time_ms + delay_ms - now_ms, std::int64_t{0}, delay_ms);
}

}  // namespace herald::workers
