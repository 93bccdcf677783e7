// Reports to the registry which webhooks fail, recover or are gone, by the attempts that workers report
// (design.md §3, delivery.md §3).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "runtime/random.hpp"
#include "runtime/scheduler.hpp"
#include "schemas/commands/webhooks.hpp"
#include "storage/node/node.hpp"

namespace herald::storage::deliveries {

/// Every node observes; only the holder of the claim reports. It reports what the state does not have yet, at
/// most once in limits::health_report_interval_ms for each webhook (but at once when the webhook is gone).
/// Apply ignores reports about an older revision. Lives on the scheduler's thread, except that observe() may
/// be called on any.
class webhook_health_job final : public node::claimed_job,
                                 public std::enable_shared_from_this<webhook_health_job> {
  public:
    /// All arguments must outlive it.
    webhook_health_job(node::registry_node& registry, const registry::state::state_store& store,
                       runtime::scheduler& scheduler, runtime::random_source& random)
        : x_registry(registry), x_store(store), x_scheduler(scheduler), x_random(random) {}

    void observe(const schemas::attempt&);

    void start(std::uint64_t token) override;
    void stop() override { x_token = 0; }

  private:
    struct finding {
        std::uint64_t revision = 0;
        schemas::commands::webhook_condition condition = schemas::commands::webhook_condition::healthy;
        std::int64_t failing_since_ms = 0;
        std::string reason;
        std::int64_t told_ms = INT64_MIN / 2;  // steady clock
    };

    void take(schemas::webhook_id, finding);
    void review();
    bool is_news(const registry::state::state_view&, schemas::webhook_id, const finding&) const;
    void tell(schemas::webhook_id, finding&);
    void review_later();

    node::registry_node& x_registry;
    const registry::state::state_store& x_store;
    runtime::scheduler& x_scheduler;
    runtime::random_source& x_random;
    std::uint64_t x_token = 0;
    std::map<schemas::webhook_id, finding> x_findings;
    bool x_is_review_planned = false;
};

}  // namespace herald::storage::deliveries
