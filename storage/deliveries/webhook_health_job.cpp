#include "storage/deliveries/webhook_health_job.hpp"

#include <utility>

#include "runtime/lifetime.hpp"
#include "runtime/text.hpp"
#include "schemas/binary.hpp"
#include "storage/deliveries/limits.hpp"
#include "storage/registry/tables/webhooks.hpp"

namespace herald::storage::deliveries {
namespace {

using schemas::attempt;
using schemas::attempt_result;
using schemas::commands::webhook_condition;

constexpr std::int64_t review_interval_ms = 1'000;

/// A 429 or 503 that names a time to come back is not a failure (delivery.md §3).
bool asks_to_wait(const attempt& made) {
    if (made.status != 429 && made.status != 503) return false;
    return runtime::to_lower(made.response_headers).find("retry-after:") != std::string::npos;
}

bool says_something(const attempt& made) {
    if (made.disable_webhook) return true;
    if (made.source == schemas::delivery_source::test || made.number == 0 || made.webhook_revision == 0)
        return false;
    if (made.result == attempt_result::succeeded) return true;
    return (made.result == attempt_result::will_retry || made.result == attempt_result::dead) &&
           !asks_to_wait(made);
}

}  // namespace

void webhook_health_job::observe(const attempt& made) {
    if (!says_something(made)) return;
    finding found;
    found.revision = made.webhook_revision;
    if (made.disable_webhook) {
        found.condition = webhook_condition::gone;
        found.reason =
            made.status == 410 ? "the receiver answered 410 Gone" : "the receiver asked to be disabled";
    } else if (made.result != attempt_result::succeeded) {
        found.condition = webhook_condition::failing;
        found.failing_since_ms = made.time_ms;
    }
    x_scheduler.post(runtime::if_alive(
        weak_from_this(), [id = made.webhook_id, found](webhook_health_job& self) { self.take(id, found); }));
}

void webhook_health_job::start(std::uint64_t token) {
    x_token = token;
    review();
}

void webhook_health_job::take(schemas::webhook_id id, finding found) {
    if (!x_findings.contains(id) && x_findings.size() >= limits::health_webhooks_max) return;
    finding& known = x_findings[id];
    if (found.revision < known.revision) return;
    if (found.revision == known.revision) {
        if (known.condition == webhook_condition::gone) return;
        if (known.condition == webhook_condition::failing && found.condition == webhook_condition::failing)
            return;  // since that time
    }
    const bool is_gone = found.condition == webhook_condition::gone;
    if (!is_gone) found.told_ms = known.told_ms;
    known = std::move(found);
    if (is_gone) return review();
    review_later();
}

/// Forgets what the state already has; reports the rest when it is time.
void webhook_health_job::review() {
    const auto view = x_store.view();
    const std::int64_t now_ms = x_scheduler.time().steady_ms();
    for (auto next = x_findings.begin(); next != x_findings.end();) {
        const auto each = next++;
        finding& found = each->second;
        const bool is_time = now_ms - found.told_ms >= limits::health_report_interval_ms;
        if (is_news(*view, each->first, found)) {
            if (x_token != 0 && is_time) tell(each->first, found);
        } else if (is_time) {
            x_findings.erase(each);
        }
    }
    if (!x_findings.empty()) review_later();
}

bool webhook_health_job::is_news(const registry::state::state_view& state, schemas::webhook_id id,
                                 const finding& found) const {
    const auto hook = registry::tables::webhooks::find(state, id);
    if (!hook || hook->revision > found.revision || hook->status == schemas::webhook_status::disabled)
        return false;
    switch (found.condition) {
        case webhook_condition::healthy:
            return hook->failing_since_ms != 0;
        case webhook_condition::failing:
            return hook->failing_since_ms == 0;
        case webhook_condition::gone:
            return true;
    }
    return false;
}

void webhook_health_job::tell(schemas::webhook_id id, finding& found) {
    found.told_ms = x_scheduler.time().steady_ms();
    schemas::commands::webhook_health health;
    health.webhook_id = id;
    health.revision = found.revision;
    health.condition = found.condition;
    health.failing_since_ms = found.failing_since_ms;
    health.reason = found.reason;
    health.token = x_token;
    // An accepted report shows in the state; any other is sent again.
    x_registry.submit(schemas::commands::webhook_health::type, schemas::encode(health), {}, x_random.uuid(),
                      [](const auto&) {});
}

void webhook_health_job::review_later() {
    if (std::exchange(x_is_review_planned, true)) return;
    x_scheduler.run_at(x_scheduler.time().steady_ms() + review_interval_ms,
                       runtime::if_alive(weak_from_this(), [](webhook_health_job& self) {
                           self.x_is_review_planned = false;
                           self.review();
                       }));
}

}  // namespace herald::storage::deliveries
