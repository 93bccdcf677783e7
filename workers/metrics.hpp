// What a worker shows to operators as metrics: its counters and its present state.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "events/subscriber_table.hpp"
#include "runtime/metrics.hpp"
#include "runtime/readiness.hpp"
#include "workers/worker.hpp"

namespace herald::workers {

/// Shows the values it was last given. One in a process; called on one thread.
class worker_metrics {
  public:
    worker_metrics();
    void show(const std::optional<runtime::trouble>&);
    /// `ends`: of its partitions, as last known.
    void show(const worker&, const events::log::partition_ends& ends);
    void show(const events::subscriber_table&);

  private:
    using gauges_of_webhooks = std::map<schemas::webhook_id, std::shared_ptr<runtime::gauge>>;

    void show_webhooks(const worker_gauges&);

    gauges_of_webhooks x_waiting;
    gauges_of_webhooks x_oldest_of;
    gauges_of_webhooks x_breaker_of;
    std::map<std::string_view, runtime::gauge*> x_reasons;
    runtime::gauge& x_log_reachable =
        runtime::metric_gauge(runtime::metrics::log_reachable, {{"process", "worker"}});
    std::vector<std::pair<std::uint64_t worker_counters::*, runtime::counter*>> x_counters;
    runtime::gauge& x_oldest = runtime::metric_gauge(runtime::metrics::waiting_oldest);
    runtime::gauge& x_disabled = runtime::metric_gauge(runtime::metrics::webhooks_disabled);
    runtime::gauge& x_in_memory = runtime::metric_gauge(runtime::metrics::worker_deliveries_in_memory);
    runtime::gauge& x_in_flight = runtime::metric_gauge(runtime::metrics::worker_attempts_in_flight);
    runtime::gauge& x_breakers = runtime::metric_gauge(runtime::metrics::worker_breakers_open);
    runtime::gauge& x_backlog_oldest = runtime::metric_gauge(runtime::metrics::backlog_oldest);
    runtime::gauge& x_read_ahead = runtime::metric_gauge(runtime::metrics::worker_read_ahead_bytes);
};

}  // namespace herald::workers
