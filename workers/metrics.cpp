#include "workers/metrics.hpp"

#include <algorithm>

#include "runtime/assert.hpp"

namespace herald::workers {

worker_metrics::worker_metrics() {
    using counters = worker_counters;
    const auto add = [this](std::uint64_t counters::*of, std::string_view name, std::string_view help,
                            runtime::metric_labels labels = {}) {
        x_counters.emplace_back(of, &runtime::metric_counter(name, help, labels));
    };
    add(&counters::events, "herald_worker_events_total", "events accepted");
    add(&counters::events_repeated, "herald_worker_events_repeated_total", "events dropped: had already");
    add(&counters::sequence_gaps, "herald_worker_sequence_gaps_total", "events after a gap: an alarm");
    add(&counters::unreadable, "herald_worker_unreadable_total", "records passed over: an alarm");
    add(&counters::deliveries, "herald_worker_deliveries_total", "deliveries that came, from any topic");
    add(&counters::attempts_succeeded, "herald_worker_attempts_total", "attempts by result",
        {{"result", "succeeded"}});
    add(&counters::attempts_failed, "herald_worker_attempts_total", "attempts by result",
        {{"result", "failed"}});
    add(&counters::attempts_cancelled, "herald_worker_attempts_total", "attempts by result",
        {{"result", "cancelled"}});
    add(&counters::skipped, "herald_worker_skipped_total", "deliveries to deleted webhooks, late tests");
    add(&counters::held, "herald_worker_held_total", "deliveries to webhooks that are switched off");
    add(&counters::retried, "herald_worker_retried_total", "deliveries put off after an attempt");
    add(&counters::spilled, "herald_worker_spilled_total", "deliveries put off without one");
    add(&counters::own_shortages, "herald_worker_own_shortages_total",
        "attempts that the process had no descriptor or memory for");
    add(&counters::hops, "herald_worker_hops_total", "moves between retry topics within one wait");
    add(&counters::dead, "herald_worker_dead_total", "deliveries given up");
    add(&counters::appends_repeated, "herald_worker_appends_repeated_total", "appends made again");
    add(&counters::attempt_records_lost, "herald_worker_attempt_records_lost_total",
        "attempts that the history of deliveries misses");
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
