#include "storage/node/node_metrics.hpp"

namespace herald::storage::node {

node_metrics::node_metrics() {
    for (const std::string_view reason : runtime::not_ready_reasons_of_node)
        x_reasons[reason] =
            &runtime::metric_gauge(runtime::metrics::not_ready, {{"process", "api"}, {"reason", reason}});
}

void node_metrics::show(const registry_node::status& now, const std::optional<runtime::trouble>& beside) {
    namespace reason = runtime::not_ready_reason;
    const auto& trouble = now.not_ready ? now.not_ready : beside;
    const std::string_view why = trouble ? trouble->reason : std::string_view();
    for (const auto& [name, shown] : x_reasons) shown->set(name == why);
    x_writes_refused.set(now.writes_refused.has_value());
    x_log_reachable.set(why != reason::log_unreachable && why != reason::log_not_written);
    x_lag.set(static_cast<std::int64_t>(now.lag_records));
    x_offset.set(static_cast<std::int64_t>(now.next_offset));
    x_bytes.set(static_cast<std::int64_t>(now.log_bytes));
    x_replay.set(now.replay_ms / 1'000);
    x_differences.set(static_cast<std::int64_t>(now.nodes_that_differ));
    x_outbox_rows.set(static_cast<std::int64_t>(now.outbox_rows));
    x_outbox_oldest.set(now.outbox_oldest_ms / 1'000);
}

}  // namespace herald::storage::node
