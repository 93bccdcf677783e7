#include "workers/lag_reader.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "runtime/metrics.hpp"

namespace herald::workers {

void lag_reader::measure(positions now) {
    if (std::exchange(x_is_asking, true)) return;
    std::vector<events::log::topic_partition> all;
    for (const auto& [where, next] : now) {
        all.push_back(where);
        x_topics.insert(where.topic);
    }
    const auto answered =
        x_lifetime.guard([this, now = std::move(now)](const events::log::partition_ends& ends) {
            x_is_asking = false;
            x_ends = ends;
            show(now);
        });
    x_log.query_ends(all, runtime::posted(x_scheduler, answered));
}

void lag_reader::show(const positions& done) const {
    std::map<std::string, std::int64_t> lags;
    for (const std::string& topic : x_topics) lags[topic] = 0;
    for (const auto& [where, end] : x_ends)
        lags[where.topic] += std::max<std::int64_t>(0, end - done.at(where));
    for (const auto& [topic, lag] : lags)
        runtime::metric_gauge(runtime::metrics::consumer_lag, {{"topic", topic}}).set(lag);
}

}  // namespace herald::workers
