#include "workers/metrics.hpp"

#include <algorithm>

#include "runtime/assert.hpp"

namespace herald::workers {

worker_metrics::worker_metrics() {
    using counters = worker_counters;
    namespace metrics = runtime::metrics;
    const auto add = [this](std::uint64_t counters::*of, const runtime::metric_name& name,
                            runtime::metric_labels labels = {}) {
        x_counters.emplace_back(of, &runtime::metric_counter(name, labels));
    };
    add(&counters::events, metrics::worker_events);
    add(&counters::events_repeated, metrics::worker_events_repeated);
    add(&counters::sequence_gaps, metrics::worker_sequence_gaps);
    add(&counters::unreadable, metrics::worker_unreadable);
    add(&counters::deliveries, metrics::worker_deliveries);
    add(&counters::attempts_succeeded, metrics::worker_attempts, {{"result", "succeeded"}});
    add(&counters::attempts_failed, metrics::worker_attempts, {{"result", "failed"}});
    add(&counters::attempts_cancelled, metrics::worker_attempts, {{"result", "cancelled"}});
    add(&counters::skipped, metrics::worker_skipped);
    add(&counters::held, metrics::worker_held);
    add(&counters::retried, metrics::worker_retried);
    add(&counters::spilled, metrics::worker_spilled);
    add(&counters::own_shortages, metrics::worker_own_shortages);
    add(&counters::hops, metrics::worker_hops);
    add(&counters::dead, metrics::worker_dead);
    add(&counters::appends_repeated, metrics::worker_appends_repeated);
    add(&counters::attempt_records_lost, metrics::worker_attempt_records_lost);
    HERALD_ASSERT(x_counters.size() == sizeof(counters) / sizeof(std::uint64_t));
    for (const std::string_view reason : runtime::not_ready_reasons_of_worker)
        x_reasons[reason] =
            &runtime::metric_gauge(runtime::metrics::not_ready, {{"process", "worker"}, {"reason", reason}});
}

void worker_metrics::show(const std::optional<runtime::trouble>& trouble) {
    const std::string_view why = trouble ? trouble->reason : std::string_view();
    for (const auto& [name, shown] : x_reasons) shown->set(name == why);
    x_log_reachable.set(why != runtime::not_ready_reason::subscribers_unreachable);
}

void worker_metrics::show(const worker& from) {
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
    waiting("row", gauges.waiting_for_row);
    waiting("lane", gauges.lanes_waiting);
    waiting("attempt", gauges.attempts_in_flight);
    waiting("write", gauges.writing);
    x_oldest.set(std::max<std::int64_t>(0, gauges.log_ms - std::min(gauges.oldest_ms, gauges.log_ms)) /
                 1'000);
}

void worker_metrics::show(const events::subscriber_table& webhooks) {
    x_disabled.set(static_cast<std::int64_t>(webhooks.disabled_count()));
}

}  // namespace herald::workers
