// The metrics of an API node (runtime/metric_names.hpp).
#pragma once

#include <map>
#include <optional>
#include <string_view>

#include "runtime/metrics.hpp"
#include "storage/node/node.hpp"

namespace herald::storage::node {

/// One for the process. Rare events are counted where they happen.
class node_metrics {
  public:
    node_metrics();
    /// `beside`: why the process is not ready although the node is.
    void show(const registry_node::status&, const std::optional<runtime::trouble>& beside);

  private:
    std::map<std::string_view, runtime::gauge*> x_reasons;
    runtime::gauge& x_writes_refused = runtime::metric_gauge(runtime::metrics::writes_refused);
    runtime::gauge& x_log_reachable =
        runtime::metric_gauge(runtime::metrics::log_reachable, {{"process", "api"}});
    runtime::gauge& x_lag = runtime::metric_gauge(runtime::metrics::apply_lag);
    runtime::gauge& x_offset = runtime::metric_gauge(runtime::metrics::log_offset);
    runtime::gauge& x_bytes = runtime::metric_gauge(runtime::metrics::log_bytes);
    runtime::gauge& x_replay = runtime::metric_gauge(runtime::metrics::replay_seconds);
    runtime::gauge& x_differences = runtime::metric_gauge(runtime::metrics::hash_differences);
    runtime::gauge& x_outbox_rows = runtime::metric_gauge(runtime::metrics::outbox_rows);
    runtime::gauge& x_outbox_oldest = runtime::metric_gauge(runtime::metrics::outbox_oldest);
};

}  // namespace herald::storage::node
