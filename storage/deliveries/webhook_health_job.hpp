// Reports to the registry which webhooks fail, recover or are gone, and which requests for scans can no
// longer arrive, by the attempts that workers report (design.md §3, delivery.md §3, wire.md §4).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/random.hpp"
#include "runtime/scheduler.hpp"
#include "schemas/commands/scans.hpp"
#include "schemas/commands/webhooks.hpp"
#include "storage/node/node.hpp"

namespace herald::storage::deliveries {

/// Every node observes; only the holder of the claim reports. It reports what the state does not have yet and
/// how many attempts have failed when that means something (schemas/commands/webhooks.hpp), at
/// most once in limits::health_report_interval_ms for each webhook (but at once when the webhook is gone).
/// Apply ignores reports about an older revision. Lives on the scheduler's thread, except that observe() may
/// be called on any.
class webhook_health_job final : public node::claimed_job,
                                 public std::enable_shared_from_this<webhook_health_job> {
  public:
    /// The newest attempts of the event's deliveries that are over, as far as the history has them.
    using ended_deliveries = std::function<std::vector<schemas::attempt>(std::string_view event_id)>;

    /// All arguments must outlive it. `ended` tells a new holder what was reported before it ran.
    webhook_health_job(node::registry_node& registry, const registry::state::state_store& store,
                       runtime::scheduler& scheduler, runtime::random_source& random,
                       ended_deliveries ended = {})
        : x_registry(registry),
          x_store(store),
          x_scheduler(scheduler),
          x_random(random),
          x_ended_deliveries(std::move(ended)) {}

    void observe(const schemas::attempt&);

    void start(std::uint64_t token) override;
    void stop() override { x_token = 0; }

  private:
    struct finding {
        std::uint64_t revision = 0;
        schemas::commands::webhook_condition condition = schemas::commands::webhook_condition::healthy;
        std::int64_t failing_since_ms = 0;
        std::int64_t failed_until_ms = 0;
        std::uint32_t failed_attempts = 0;  // as in the command
        std::string reason;
        std::int64_t told_ms = INT64_MIN / 2;  // steady clock
        /// The state has what the failures mean so far; it is looked at again after a minute, or when they
        /// mean more.
        bool is_settled = false;
        std::int64_t looked_ms = 0;  // steady clock
    };

    /// A request for a scan that did not reach a webhook.
    struct lost_request {
        schemas::build_id build;
        schemas::delivery_end how{};
        std::int64_t seen_ms = 0;  // steady clock, as the next
        std::int64_t told_ms = INT64_MIN / 2;
    };
    using request_and_webhook = std::pair<schemas::event_id, schemas::webhook_id>;

    void take(schemas::webhook_id, finding);
    void add_failure(finding& known, finding found);
    void take_lost(const request_and_webhook&, lost_request);
    void review_lost(const registry::state::state_view&, std::int64_t now_ms);
    bool is_news(const registry::state::state_view&, const request_and_webhook&, const lost_request&) const;
    void tell(const request_and_webhook&, lost_request&);
    void ask_history();
    void review();
    bool is_news(const registry::state::state_view&, schemas::webhook_id, const finding&) const;
    bool adds_to(const schemas::webhook&, const finding&) const;
    static bool counts_on(const registry::state::state_view&, schemas::webhook_id, const finding&);
    void tell(schemas::webhook_id, finding&);
    void review_later();

    node::registry_node& x_registry;
    const registry::state::state_store& x_store;
    runtime::scheduler& x_scheduler;
    runtime::random_source& x_random;
    std::uint64_t x_token = 0;
    const ended_deliveries x_ended_deliveries;
    std::map<schemas::webhook_id, finding> x_findings;
    std::map<request_and_webhook, lost_request> x_lost;
    bool x_is_review_planned = false;
};

}  // namespace herald::storage::deliveries
