// A worker, assembled: log → subscribers and worker → transport; beside it, the operators' routes.
#include "program/parts/worker_node.hpp"

#include <iostream>

#include "api/operations/operator_endpoints.hpp"
#include "api/service.hpp"
#include "events/subscriber_table.hpp"
#include "program/parts/run_and_wait.hpp"
#include "runtime/log_events.hpp"
#include "runtime/mutex.hpp"
#include "workers/http_transport.hpp"
#include "workers/lag_reader.hpp"
#include "workers/metrics.hpp"
#include "workers/worker.hpp"

namespace herald::program {
namespace {

constexpr std::int64_t metrics_interval_ms = 1'000;
constexpr std::int64_t trouble_interval_ms = 20;  // while not ready: nothing should wait longer

std::string text_of(const std::optional<endpoint>& where) {
    return where ? where->address + ":" + std::to_string(where->port) : std::string();
}

class composed_worker_node final : public worker_node {
  public:
    composed_worker_node(const settings& chosen, node_parts parts, end_request end, door* operators)
        : x_chosen(chosen), x_parts(parts), x_end(std::move(end)), x_door(operators) {}

    ~composed_worker_node() override {
        if (x_door) x_door->close();
        run_and_wait(x_loops[0], [this] {
            x_lag.reset();
            x_worker.reset();
            x_subscribers.reset();
            x_transport.reset();
        });
        x_loops.stop();
    }

    result<void> start() {
        result<void> made;
        run_and_wait(x_loops[0], [&] { made = make(); });
        if (made && x_door) serve();
        return made;
    }

    void drain(std::int64_t within_ms) override {
        std::promise<void> done;
        run_and_wait(x_loops[0], [&] { x_worker->drain(within_ms, [&] { done.set_value(); }); });
        done.get_future().wait();
    }

    void announce() override {
        run_and_wait(x_loops[0], [this] { x_says_that_it_delivers = true; });
    }

    std::optional<runtime::trouble> trouble() const override {
        const runtime::lock_guard lock(x_mutex);
        return x_trouble;
    }

  private:
    result<void> make() {
        workers::http_transport_options transport = x_chosen.transport;
        transport.connections_max = x_parts.descriptors.receivers;
        x_transport = workers::make_http_transport(x_loops[0].context(), std::move(transport));
        x_subscribers = events::make_subscriber_table(x_parts.log, x_loops[0]);
        workers::worker_options options = x_chosen.worker;
        options.concurrency_of_place = x_chosen.transport.connections_to_one_max;
        options.on_failure = [this](const error& failure) {
            std::cerr << "herald: " << failure.message << "\n";
            x_end(process_end::mismatch);
        };
        auto worker = workers::make_worker(
            {x_parts.log, x_loops[0], runtime::system_random(), x_parts.keys, *x_subscribers, *x_transport},
            std::move(options));
        if (!worker) return worker.error();
        x_worker = *std::move(worker);
        x_lag.emplace(x_parts.log, x_loops[0]);
        show_metrics();
        return {};
    }

    void serve() {
        x_service = api::make_operator_service([this](api::calls::ready_for what) {
            return api::operations::report_of_worker(trouble(), what);
        });
        x_door->lead_to(*x_service);
    }

    void show_metrics() {
        if (!x_worker) return;
        x_metrics.show(*x_worker, x_lag->ends());
        x_metrics.show(*x_subscribers);
        const std::int64_t now_ms = x_loops[0].time().steady_ms();
        if (now_ms >= x_lag_due_ms) {
            x_lag->measure(x_worker->positions());
            x_lag_due_ms = now_ms + metrics_interval_ms;
        }
        const auto now = x_worker->trouble();
        if (!now && x_subscribers->at_end_ms() && std::exchange(x_says_that_it_delivers, false))
            log_that_it_runs(runtime::log_events::delivering, x_chosen, text_of(x_chosen.listen));
        x_metrics.show(now);
        {
            const runtime::lock_guard lock(x_mutex);
            x_trouble = now;
        }
        x_loops[0].run_at(now_ms + (now ? trouble_interval_ms : metrics_interval_ms),
                          [this] { show_metrics(); });
    }

    const settings& x_chosen;
    const node_parts x_parts;
    const end_request x_end;
    door* const x_door;  // null: an API node answers for it, or nobody does
    runtime::event_loops& x_loops = x_parts.jobs;
    workers::worker_metrics x_metrics;
    std::optional<workers::lag_reader> x_lag;
    std::int64_t x_lag_due_ms = 0;
    bool x_says_that_it_delivers = false;
    mutable runtime::mutex x_mutex;
    std::optional<runtime::trouble> x_trouble GUARDED_BY(x_mutex);
    std::unique_ptr<workers::transport> x_transport;
    std::shared_ptr<events::subscriber_table> x_subscribers;
    std::unique_ptr<workers::worker> x_worker;
    std::unique_ptr<runtime::http::server::request_handler> x_service;
};

}  // namespace

result<std::unique_ptr<worker_node>> make_worker_node(const settings& chosen, node_parts parts,
                                                      end_request end, door* operators) {
    auto node = std::make_unique<composed_worker_node>(chosen, parts, std::move(end), operators);
    if (const auto started = node->start(); !started) return started.error();
    return std::unique_ptr<worker_node>(std::move(node));
}

}  // namespace herald::program
