// Counts that expire by themselves.
#include "workers/retry_backlog.hpp"

#include <iterator>

namespace herald::workers {

namespace {

constexpr std::int64_t steps_per_delay = 16;

}  // namespace

void retry_backlog::add(schemas::webhook_id webhook, std::size_t tier, std::int64_t now_ms) {
    of_webhook& mine = x_webhooks[webhook];
    mine.forget_due(now_ms);
    const std::int64_t step_ms = retry_tiers[tier].delay_ms / steps_per_delay;
    const std::int64_t until_ms = ((now_ms + retry_tiers[tier].delay_ms) / step_ms + 1) * step_ms;
    std::deque<waiting>& counts = mine.tiers[tier];
    if (counts.empty() || counts.back().until_ms != until_ms) counts.push_back({until_ms, 0});
    ++counts.back().records;
    ++mine.records;
}

std::uint64_t retry_backlog::count(schemas::webhook_id webhook, std::int64_t now_ms) {
    const auto found = x_webhooks.find(webhook);
    if (found == x_webhooks.end()) return 0;
    found->second.forget_due(now_ms);
    return found->second.records;
}

void retry_backlog::tick(std::int64_t now_ms) {
    for (auto at = x_webhooks.begin(); at != x_webhooks.end();) {
        at->second.forget_due(now_ms);
        at = at->second.records == 0 ? x_webhooks.erase(at) : std::next(at);
    }
}

void retry_backlog::of_webhook::forget_due(std::int64_t now_ms) {
    for (std::deque<waiting>& counts : tiers) {
        while (!counts.empty() && counts.front().until_ms <= now_ms) {
            records -= counts.front().records;
            counts.pop_front();
        }
    }
}

}  // namespace herald::workers
