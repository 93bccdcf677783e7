// A worker, put together: log → subscribers and worker → transport.
#include <iostream>
#include <map>
#include <mutex>

#include "events/subscriber_table.hpp"
#include "program/composition.hpp"
#include "program/on_loop.hpp"
#include "runtime/assert.hpp"
#include "runtime/log_events.hpp"
#include "runtime/metrics.hpp"
#include "workers/http_transport.hpp"
#include "workers/lag_reader.hpp"
#include "workers/worker.hpp"

namespace herald {
namespace {

constexpr std::int64_t metrics_interval_ms = 1'000;
constexpr std::int64_t trouble_interval_ms = 20;  // while it is not ready: what waits for it waits no longer
constexpr std::int64_t lag_interval_ms = 5'000;

std::string text_of(const std::optional<endpoint>& where) {
    return where ? where->address + ":" + std::to_string(where->port) : std::string();
}

/// Shows the worker's own counters as metrics.
class worker_metrics {
  public:
    worker_metrics() {
        using counters = workers::worker_counters;
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
            "attempts that the delivery log misses");
        HERALD_ASSERT(x_counters.size() == sizeof(counters) / sizeof(std::uint64_t));
        for (const std::string_view reason : runtime::not_ready_reasons_of_worker)
            x_reasons[reason] = &runtime::metric_gauge(runtime::metrics::not_ready,
                                                       {{"process", "worker"}, {"reason", reason}});
    }
    void show(const std::optional<runtime::trouble>& trouble) {
        const std::string_view why = trouble ? trouble->reason : std::string_view();
        for (const auto& [name, shown] : x_reasons) shown->set(name == why);
        x_log_reachable.set(why != runtime::not_ready_reason::subscribers_unreachable);
    }
    void show(const workers::worker& from) {
        const workers::worker_counters& now = from.counters();
        for (const auto& [of, shown] : x_counters) shown->add(now.*of - shown->value());
        const workers::worker_gauges gauges = from.gauges();
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
    void show(const events::subscriber_table& webhooks) {
        x_disabled.set(static_cast<std::int64_t>(webhooks.disabled_count()));
    }

  private:
    std::map<std::string_view, runtime::gauge*> x_reasons;
    runtime::gauge& x_log_reachable =
        runtime::metric_gauge(runtime::metrics::log_reachable, {{"process", "worker"}});
    std::vector<std::pair<std::uint64_t workers::worker_counters::*, runtime::counter*>> x_counters;
    runtime::gauge& x_oldest = runtime::metric_gauge(runtime::metrics::waiting_oldest);
    runtime::gauge& x_disabled = runtime::metric_gauge(runtime::metrics::webhooks_disabled);
    runtime::gauge& x_in_memory = runtime::metric_gauge("herald_worker_deliveries", "deliveries in memory");
    runtime::gauge& x_in_flight =
        runtime::metric_gauge("herald_worker_attempts_in_flight", "attempts under way");
    runtime::gauge& x_breakers =
        runtime::metric_gauge("herald_worker_breakers_open", "webhooks whose breaker is open");
    runtime::gauge& x_read_ahead = runtime::metric_gauge(
        "herald_worker_read_ahead_bytes", "of records that are read and not due, or without room");
};

class composed_worker_node final : public worker_node {
  public:
    composed_worker_node(const settings& chosen, node_ground ground, end_request end)
        : x_chosen(chosen), x_ground(ground), x_end(std::move(end)) {}

    ~composed_worker_node() override {
        on_loop(x_loops[0], [this] {
            x_lag.reset();
            x_worker.reset();
            x_subscribers.reset();
            x_transport.reset();
        });
        x_loops.stop();
    }

    result<void> start() {
        result<void> made;
        on_loop(x_loops[0], [&] { made = make(); });
        return made;
    }

    void drain() override {
        std::promise<void> done;
        on_loop(x_loops[0], [&] { x_worker->drain([&] { done.set_value(); }); });
        done.get_future().wait();
    }

    void announce() override {
        on_loop(x_loops[0], [this] { x_says_that_it_delivers = true; });
    }

    std::optional<runtime::trouble> trouble() const override {
        const std::lock_guard lock(x_mutex);
        return x_trouble;
    }

  private:
    result<void> make() {
        workers::http_transport_options transport;
        transport.http = x_chosen.http_locations;
        transport.policy = x_chosen.addresses;
        transport.extra_ca_file = x_chosen.extra_ca_file;
        transport.dns.servers = x_chosen.dns_servers;
        transport.connections_max = x_ground.descriptors.receivers;
        x_transport = workers::make_http_transport(x_loops[0].context(), std::move(transport));
        x_subscribers = events::make_subscriber_table(x_ground.log, x_loops[0]);
        workers::worker_options options;
        options.header_prefix = x_chosen.header_prefixes.front();
        options.concurrency = x_chosen.webhook_concurrency;
        options.on_failure = [this](const error& failure) {
            std::cerr << "herald: " << failure.message << "\n";
            x_end(process_end::mismatch);
        };
        auto worker = workers::make_worker(
            {x_ground.log, x_loops[0], runtime::system_random(), x_ground.keys, *x_subscribers, *x_transport},
            std::move(options));
        if (!worker) return worker.error();
        x_worker = *std::move(worker);
        x_lag.emplace(x_ground.log, x_loops[0]);
        show_metrics();
        return {};
    }

    void show_metrics() {
        if (!x_worker) return;
        x_metrics.show(*x_worker);
        x_metrics.show(*x_subscribers);
        const std::int64_t now_ms = x_loops[0].time().steady_ms();
        if (now_ms >= x_lag_due_ms) {
            x_lag->measure(x_worker->positions());
            x_lag_due_ms = now_ms + lag_interval_ms;
        }
        const auto now = x_worker->trouble();
        if (!now && x_subscribers->at_end_ms() && std::exchange(x_says_that_it_delivers, false))
            say_that_it_runs(runtime::log_events::delivering, x_chosen, text_of(x_chosen.listen));
        x_metrics.show(now);
        {
            const std::lock_guard lock(x_mutex);
            x_trouble = now;
        }
        x_loops[0].run_at(now_ms + (now ? trouble_interval_ms : metrics_interval_ms),
                          [this] { show_metrics(); });
    }

    const settings& x_chosen;
    const node_ground x_ground;
    const end_request x_end;
    runtime::event_loops& x_loops = x_ground.jobs;
    worker_metrics x_metrics;
    std::optional<workers::lag_reader> x_lag;
    std::int64_t x_lag_due_ms = 0;
    bool x_says_that_it_delivers = false;
    mutable std::mutex x_mutex;
    std::optional<runtime::trouble> x_trouble;  // under x_mutex
    std::unique_ptr<workers::transport> x_transport;
    std::shared_ptr<events::subscriber_table> x_subscribers;
    std::unique_ptr<workers::worker> x_worker;
};

}  // namespace

result<std::unique_ptr<worker_node>> make_worker_node(const settings& chosen, node_ground ground,
                                                      end_request end) {
    auto node = std::make_unique<composed_worker_node>(chosen, ground, std::move(end));
    if (const auto started = node->start(); !started) return started.error();
    return std::unique_ptr<worker_node>(std::move(node));
}

}  // namespace herald
