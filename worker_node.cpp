// A worker, put together: log → subscribers and worker → transport.
#include <iostream>
#include <map>
#include <mutex>

#include "composition.hpp"
#include "events/subscriber_table.hpp"
#include "on_loop.hpp"
#include "runtime/metrics.hpp"
#include "workers/http_transport.hpp"
#include "workers/worker.hpp"

namespace herald {
namespace {

constexpr std::int64_t metrics_interval_ms = 1'000;

/// Shows the worker's own counters as metrics.
class worker_metrics {
  public:
    worker_metrics() {
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
        const auto grown = [](runtime::counter& shown, std::uint64_t value) {
            shown.add(value - shown.value());
        };
        grown(x_events, now.events);
        grown(x_gaps, now.sequence_gaps);
        grown(x_succeeded, now.attempts_succeeded);
        grown(x_failed, now.attempts_failed);
        grown(x_retried, now.retried);
        grown(x_spilled, now.spilled);
        grown(x_dead, now.dead);
        grown(x_lost, now.attempt_records_lost);
        const workers::worker_gauges gauges = from.gauges();
        x_in_memory.set(static_cast<std::int64_t>(gauges.deliveries_in_memory));
        x_in_flight.set(static_cast<std::int64_t>(gauges.attempts_in_flight));
        x_breakers.set(static_cast<std::int64_t>(gauges.breakers_open));
    }

  private:
    std::map<std::string_view, runtime::gauge*> x_reasons;
    runtime::gauge& x_log_reachable =
        runtime::metric_gauge(runtime::metrics::log_reachable, {{"process", "worker"}});
    runtime::counter& x_events = runtime::metric_counter("herald_worker_events_total", "events accepted");
    runtime::counter& x_gaps =
        runtime::metric_counter("herald_worker_sequence_gaps_total", "events after a gap: an alarm");
    runtime::counter& x_succeeded = runtime::metric_counter("herald_worker_attempts_total",
                                                            "attempts by result", {{"result", "succeeded"}});
    runtime::counter& x_failed =
        runtime::metric_counter("herald_worker_attempts_total", "attempts by result", {{"result", "failed"}});
    runtime::counter& x_retried =
        runtime::metric_counter("herald_worker_retried_total", "deliveries put off after an attempt");
    runtime::counter& x_spilled =
        runtime::metric_counter("herald_worker_spilled_total", "deliveries put off without one");
    runtime::counter& x_dead = runtime::metric_counter("herald_worker_dead_total", "deliveries given up");
    runtime::counter& x_lost = runtime::metric_counter("herald_worker_attempt_records_lost_total",
                                                       "attempts that the delivery log misses");
    runtime::gauge& x_in_memory = runtime::metric_gauge("herald_worker_deliveries", "deliveries in memory");
    runtime::gauge& x_in_flight =
        runtime::metric_gauge("herald_worker_attempts_in_flight", "attempts under way");
    runtime::gauge& x_breakers =
        runtime::metric_gauge("herald_worker_breakers_open", "webhooks whose breaker is open");
};

class composed_worker_node final : public worker_node {
  public:
    composed_worker_node(const settings& chosen, node_ground ground, end_request end)
        : x_chosen(chosen), x_ground(ground), x_end(std::move(end)) {}

    ~composed_worker_node() override {
        on_loop(x_loops[0], [this] {
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
        x_transport = workers::make_http_transport(x_loops[0].context(), std::move(transport));
        x_subscribers = events::make_subscriber_table(x_ground.log, x_loops[0]);
        workers::worker_options options;
        options.header_prefix = x_chosen.header_prefixes.front();
        options.on_failure = [this](const error& failure) {
            std::cerr << "herald: " << failure.message << "\n";
            x_end(process_end::mismatch);
        };
        auto worker = workers::make_worker(
            {x_ground.log, x_loops[0], runtime::system_random(), x_ground.keys, *x_subscribers, *x_transport},
            std::move(options));
        if (!worker) return worker.error();
        x_worker = *std::move(worker);
        show_metrics();
        return {};
    }

    void show_metrics() {
        if (!x_worker) return;
        x_metrics.show(*x_worker);
        const auto now = x_worker->trouble();
        x_metrics.show(now);
        {
            const std::lock_guard lock(x_mutex);
            x_trouble = now;
        }
        x_loops[0].run_at(x_loops[0].time().steady_ms() + metrics_interval_ms, [this] { show_metrics(); });
    }

    const settings& x_chosen;
    const node_ground x_ground;
    const end_request x_end;
    runtime::event_loops x_loops{{.loops = 1, .cores = {}, .blocking_threads = 1}};
    worker_metrics x_metrics;
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
