#include "workers/metrics.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "events/log/topics.hpp"

namespace herald::workers {

worker_metrics::worker_metrics() {
    for (const worker_counter_shown& each : worker_counters_shown)
        x_counters.emplace_back(
            each.of, each.result.empty() ? &runtime::metric_counter(each.name)
                                         : &runtime::metric_counter(each.name, {{"result", each.result}}));
    for (const std::string_view reason : runtime::not_ready_reasons_of_worker)
        x_reasons[reason] =
            &runtime::metric_gauge(runtime::metrics::not_ready, {{"process", "worker"}, {"reason", reason}});
}

void worker_metrics::show(const std::optional<runtime::trouble>& trouble) {
    const std::string_view why = trouble ? trouble->reason : std::string_view();
    for (const auto& [name, shown] : x_reasons) shown->set(name == why);
    x_log_reachable.set(why != runtime::not_ready_reason::subscribers_unreachable);
}

void worker_metrics::show(const worker& from, const events::log::partition_ends& ends) {
    const worker_counters& now = from.counters();
    for (const auto& [of, shown] : x_counters) shown->add(now.*of - shown->value());
    const worker_gauges gauges = from.gauges();
    x_in_memory.set(static_cast<std::int64_t>(gauges.deliveries_in_memory));
    x_in_flight.set(static_cast<std::int64_t>(gauges.attempts_in_flight));
    x_breakers.set(static_cast<std::int64_t>(gauges.breakers_open));
    x_read_ahead.set(static_cast<std::int64_t>(gauges.read_ahead_bytes));
    const auto waiting = [](std::string_view stage, std::uint64_t count) {
        runtime::metric_gauge(runtime::metrics::waiting, {{"stage", stage}})
            .set(static_cast<std::int64_t>(count));
    };
    std::map<std::string, std::int64_t> partitions;
    for (const events::log::topic_settings& topic : events::log::all_topics)
        if (!topic.group.empty()) partitions[std::string(topic.name)] = 0;
    for (const auto& [where, next] : from.positions()) ++partitions[where.topic];
    for (const auto& [topic, count] : partitions)
        runtime::metric_gauge(runtime::metrics::partitions, {{"topic", topic}}).set(count);
    waiting("row", gauges.waiting_for_row);
    waiting("lane", gauges.lanes_waiting);
    waiting("attempt", gauges.attempts_in_flight);
    waiting("write", gauges.writing);
    const auto seconds_since = [&gauges](std::int64_t log_ms) {
        return std::max<std::int64_t>(0, gauges.log_ms - std::min(log_ms, gauges.log_ms)) / 1'000;
    };
    x_oldest.set(seconds_since(gauges.oldest_ms));
    const worker_backlog backlog = from.backlog(ends);
    const auto left = [](std::string_view why, std::uint64_t count) {
        runtime::metric_gauge(runtime::metrics::backlog, {{"why", why}})
            .set(static_cast<std::int64_t>(count));
    };
    left("unread", backlog.unread);
    left("memory", backlog.memory);
    left("room", backlog.room);
    x_backlog_oldest.set(seconds_since(backlog.oldest_ms));
    show_webhooks(gauges);
}

void worker_metrics::show_webhooks(const worker_gauges& gauges) {
    const auto shown = [](gauges_of_webhooks& all, const runtime::metric_name& name, schemas::webhook_id id,
                          std::int64_t value) {
        std::shared_ptr<runtime::gauge>& mine = all[id];
        if (!mine) mine = runtime::held_gauge(name, {{"webhook", std::to_string(id.value)}});
        mine->set(value);
    };
    std::erase_if(x_waiting, [&](const auto& each) { return !gauges.webhooks.contains(each.first); });
    std::erase_if(x_oldest_of, [&](const auto& each) { return !gauges.webhooks.contains(each.first); });
    for (const auto& [id, of] : gauges.webhooks) {
        shown(x_waiting, runtime::metrics::webhook_waiting, id, static_cast<std::int64_t>(of.deliveries));
        const std::int64_t age_ms = std::max<std::int64_t>(0, gauges.log_ms - of.oldest_ms);
        shown(x_oldest_of, runtime::metrics::webhook_oldest, id, age_ms / 1'000);
    }
    std::erase_if(x_breaker_of, [&](const auto& each) {
        return std::ranges::count(gauges.webhooks_with_open_breaker, each.first) == 0;
    });
    for (const schemas::webhook_id id : gauges.webhooks_with_open_breaker)
        shown(x_breaker_of, runtime::metrics::webhook_breaker_open, id, 1);
}

void worker_metrics::show(const events::subscriber_table& webhooks) {
    x_disabled.set(static_cast<std::int64_t>(webhooks.disabled_count()));
}

}  // namespace herald::workers
