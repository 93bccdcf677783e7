// Asks one question at a time.
#include "workers/lag_reader.hpp"

#include <algorithm>
#include <utility>

#include "runtime/metrics.hpp"

namespace herald::workers {

void lag_reader::measure(positions now) {
    if (!x_left.empty()) return;
    for (auto& [topic, lag] : x_lags) lag = 0;
    x_left = std::move(now);
    ask();
}

void lag_reader::ask() {
    if (x_left.empty()) return show();
    const auto answered = x_lifetime.guard([this](const result<events::log::offset_range>& range) {
        const auto first = x_left.begin();
        std::int64_t& lag = x_lags[first->first.topic];
        if (range) lag += std::max<std::int64_t>(0, range->next - std::max(first->second, range->first));
        x_left.erase(first);
        ask();
    });
    x_log.query_range(x_left.begin()->first, runtime::posted(x_scheduler, answered));
}

void lag_reader::show() {
    for (const auto& [topic, lag] : x_lags)
        runtime::metric_gauge(runtime::metrics::consumer_lag, {{"topic", topic}}).set(lag);
}

}  // namespace herald::workers
