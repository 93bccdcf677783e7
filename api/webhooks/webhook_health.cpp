// How webhooks fare (wire.md §7 "webhookHealth").
#include "schemas/answers/webhook_health.hpp"

#include "api/calls/handler.hpp"
#include "api/calls/rows.hpp"
#include "api/webhooks/delivery_view.hpp"
#include "api/webhooks/routes.hpp"
#include "api/webhooks/services.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/webhooks.hpp"

namespace herald::api::webhooks {
namespace {

using namespace calls::rows;
namespace access = storage::registry::access;

answers::webhook_health_entry health_of(const reading_call& call, const schemas::webhook& hook) {
    const auto record =
        call.of<services>().history.record_of(hook.workspace_id, hook.id, call.with().clock.wall_ms());
    answers::webhook_health_entry entry;
    entry.webhook = delivery_view(call, true).webhook(hook.id);
    entry.state = hook.status;
    entry.because = hook.status_reason;
    for (const schemas::recent_attempt& each : record.recent)
        entry.recent.push_back({time_text(each.time_ms), each.status, each.error, each.total_us});
    if (const std::uint64_t all = record.succeeded + record.failed; all > 0)
        entry.success_rate = static_cast<double>(record.succeeded) / static_cast<double>(all);
    entry.p95_us = record.p95_us;
    entry.waiting = record.waiting;
    entry.oldest_waiting = time_text(record.oldest_waiting_ms);
    entry.dead = record.dead;
    entry.held = record.held;
    entry.failing_since = time_text(hook.failing_since_ms);
    return entry;
}

answered webhook_health(reading_call& call) {
    const auto sight = sight_of(call);
    if (!sight) return sight.error();
    if (!sight->sees_all() && !access::is_workspace_admin(call.state(), call.user().id, sight->workspace()))
        return runtime::permission_denied({"the health of webhooks needs an admin of the workspace \"",
                                           sight->workspace().name, "\" or a system administrator"});
    answers::webhook_health_list answer;
    for (const schemas::webhook& hook :
         storage::registry::find::webhooks_of(call.state(), sight->workspace().id))
        answer.records.push_back(health_of(call, hook));
    answer.total_records = answer.records.size();
    return call.answer(answer);
}

constexpr calls::query_parameter health_of_workspace[]{
    {"workspace_id", "id of the workspace; without it the caller's default workspace", true, false}};

const calls::route health_table[] = {
    list<answers::webhook_health_list>(
        "webhook_health", "/api/v1/uac-proxy/events/webhookHealth", webhook_health, "webhooks",
        "Says how each webhook of a workspace fares: its last attempts, its day, what waits",
        health_of_workspace),
};

}  // namespace

std::span<const calls::route> webhook_health_routes() { return health_table; }

}  // namespace herald::api::webhooks
