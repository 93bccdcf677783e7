// When a breaker opens, probes and closes.
#include "workers/breaker.hpp"

#include <algorithm>

#include "runtime/assert.hpp"
#include "workers/limits.hpp"

namespace herald::workers {

namespace {

constexpr std::int64_t period_ms = 10'000;

}  // namespace

breaker::admission breaker::would_admit(std::int64_t now_ms) const noexcept {
    if (!x_is_open) return admission::ordinary;
    return !x_is_probing && now_ms - x_opened_ms >= x_open_for_ms ? admission::probe : admission::refused;
}

std::int64_t breaker::closed_to_all_ms(std::int64_t now_ms) const noexcept {
    if (!x_is_open || x_is_probing) return 0;
    return std::max<std::int64_t>(0, x_opened_ms + x_open_for_ms - now_ms);
}

breaker::admission breaker::admit(std::int64_t now_ms) noexcept {
    const admission admitted = would_admit(now_ms);
    HERALD_ASSERT(admitted != admission::refused);
    if (admitted == admission::probe) x_is_probing = true;
    return admitted;
}

void breaker::succeeded(admission how, std::int64_t now_ms) noexcept {
    if (how == admission::probe) {
        *this = breaker{};
    } else if (!x_is_open) {
        ++results_at(now_ms).succeeded;
        x_failures_in_row = 0;
    }
}

void breaker::failed(admission how, std::int64_t now_ms) noexcept {
    if (how == admission::probe) {
        x_is_probing = false;
        open(now_ms);
    } else if (!x_is_open) {
        ++results_at(now_ms).failed;
        ++x_failures_in_row;
        if (x_failures_in_row >= limits::breaker_failures_in_row_max || mostly_failing(now_ms)) open(now_ms);
    }
}

void breaker::abandoned(admission how) noexcept {
    if (how == admission::probe) x_is_probing = false;
}

breaker::results& breaker::results_at(std::int64_t now_ms) noexcept {
    const std::int64_t period = now_ms / period_ms;
    results& found = x_results[static_cast<std::size_t>(period) % x_results.size()];
    if (found.period != period) found = results{period, 0, 0};
    return found;
}

bool breaker::mostly_failing(std::int64_t now_ms) const noexcept {
    const std::int64_t oldest = now_ms / period_ms - static_cast<std::int64_t>(x_results.size()) + 1;
    std::uint32_t all = 0;
    std::uint32_t failures = 0;
    for (const results& some : x_results) {
        if (some.period < oldest) continue;
        all += some.succeeded + some.failed;
        failures += some.failed;
    }
    return all >= limits::breaker_results_min && failures * 2 >= all;
}

void breaker::open(std::int64_t now_ms) noexcept {
    x_open_for_ms =
        x_is_open ? std::min(2 * x_open_for_ms, limits::breaker_open_ms_max) : limits::breaker_open_ms_min;
    x_is_open = true;
    x_opened_ms = now_ms;
}

}  // namespace herald::workers
