#include "storage/deliveries/webhook_health_job.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "runtime/lifetime.hpp"
#include "runtime/text.hpp"
#include "schemas/binary.hpp"
#include "storage/deliveries/limits.hpp"
#include "storage/registry/tables/builds.hpp"
#include "storage/registry/tables/scans.hpp"
#include "storage/registry/tables/timers.hpp"
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

/// Of a delivery that is over without having arrived.
std::optional<schemas::delivery_end> end_of(const attempt& made) {
    switch (made.result) {
        case attempt_result::dead:
            return schemas::delivery_end::dead;
        case attempt_result::skipped:
            return schemas::delivery_end::skipped;
        case attempt_result::held:
            return schemas::delivery_end::held;
        case attempt_result::succeeded:
        case attempt_result::will_retry:
            break;
    }
    return std::nullopt;
}

/// Empty unless the attempt says that a request for a scan did not reach its webhook.
std::optional<std::pair<schemas::build_id, schemas::delivery_end>> lost_request_in(const attempt& made) {
    if (made.event_type != schemas::event_type::request_scan || made.source == schemas::delivery_source::test)
        return std::nullopt;
    const auto how = end_of(made);
    const auto build = runtime::parse_plain_decimal(made.resource_id);
    if (!how || !build) return std::nullopt;
    return std::pair{schemas::build_id{*build}, *how};
}

/// Of the scans that wait for a report, at most limits::lost_requests_max.
std::vector<schemas::event_id> running_requests(const registry::state::state_view& state) {
    std::vector<schemas::event_id> events;
    registry::tables::timers::each(state, [&](const registry::tables::timer& each) {
        if (each.kind != registry::tables::timer_kind::scan_deadline) return true;
        const auto scan =
            registry::tables::scans::find(state, schemas::scan_id{schemas::read_big_endian(each.key)});
        if (scan && !scan->event_id.empty()) events.push_back(scan->event_id);
        return events.size() < limits::lost_requests_max;
    });
    return events;
}

}  // namespace

void webhook_health_job::observe(const attempt& made) {
    if (const auto lost = lost_request_in(made))
        x_scheduler.post(runtime::if_alive(
            weak_from_this(),
            [key = request_and_webhook(made.event_id, made.webhook_id), lost](webhook_health_job& self) {
                self.take_lost(key, {lost->first, lost->second, self.x_scheduler.time().steady_ms()});
                self.review_later();
            }));
    if (!says_something(made)) return;
    finding found;
    found.revision = made.webhook_revision;
    // Otherwise two webhooks that fail would tell each other of it for ever.
    if (made.event_type != schemas::event_type::webhook_health) found.failed_attempts = 1;
    if (made.disable_webhook) {
        found.condition = webhook_condition::gone;
        found.reason =
            made.status == 410 ? "the receiver answered 410 Gone" : "the receiver asked to be disabled";
    } else if (made.result != attempt_result::succeeded) {
        found.condition = webhook_condition::failing;
        found.failing_since_ms = found.failed_until_ms = made.time_ms;
        found.reason = runtime::shortened(made.message, limits::health_reason_bytes_max);
    }
    x_scheduler.post(runtime::if_alive(
        weak_from_this(), [id = made.webhook_id, found](webhook_health_job& self) { self.take(id, found); }));
}

void webhook_health_job::start(std::uint64_t token) {
    x_token = token;
    ask_history();
    review();
}

/// What a holder before this one heard but did not report any more.
void webhook_health_job::ask_history() {
    if (!x_ended_deliveries) return;
    const std::int64_t now_ms = x_scheduler.time().steady_ms();
    for (const schemas::event_id& event : running_requests(*x_store.view()))
        for (const attempt& made : x_ended_deliveries(event))
            if (const auto lost = lost_request_in(made))
                take_lost({made.event_id, made.webhook_id}, {lost->first, lost->second, now_ms});
}

void webhook_health_job::take_lost(const request_and_webhook& key, lost_request found) {
    if (x_lost.size() < limits::lost_requests_max) x_lost.try_emplace(key, found);
}

void webhook_health_job::take(schemas::webhook_id id, finding found) {
    if (!x_findings.contains(id) && x_findings.size() >= limits::health_webhooks_max) return;
    finding& known = x_findings[id];
    if (found.revision < known.revision) return;
    if (found.revision == known.revision) {
        if (known.condition == webhook_condition::gone) return;
        if (known.condition == webhook_condition::failing && found.condition == webhook_condition::failing)
            return add_failure(known, std::move(found));
    }
    const bool is_gone = found.condition == webhook_condition::gone;
    if (!is_gone) found.told_ms = known.told_ms;
    known = std::move(found);
    if (is_gone) return review();
    review_later();
}

void webhook_health_job::add_failure(finding& known, finding found) {
    const auto meant = [&known, now_ms = x_scheduler.time().wall_ms()] {
        const auto all = schemas::commands::meaning_of_failures(known.failing_since_ms, known.failed_until_ms,
                                                                known.failed_attempts, now_ms);
        return std::tuple(all.is_failing, all.may_disable, known.failed_attempts > 0);
    };
    const auto before = meant();
    known.failed_until_ms = std::max(known.failed_until_ms, found.failed_until_ms);
    known.failed_attempts =
        std::min(known.failed_attempts + found.failed_attempts, limits::webhook_failing_attempts_min);
    known.reason = std::move(found.reason);
    if (meant() == before) return;
    known.is_settled = false;
    review_later();
}

/// Forgets what the state already has, but for failures, which are counted; reports the rest when it is time.
void webhook_health_job::review() {
    const auto view = x_store.view();
    const std::int64_t now_ms = x_scheduler.time().steady_ms();
    for (auto next = x_findings.begin(); next != x_findings.end();) {
        const auto each = next++;
        finding& found = each->second;
        if (found.is_settled && now_ms - found.looked_ms < limits::health_report_interval_ms) continue;
        found.looked_ms = now_ms;
        found.is_settled = false;
        const bool is_time = now_ms - found.told_ms >= limits::health_report_interval_ms;
        if (is_news(*view, each->first, found)) {
            if (x_token != 0 && is_time) tell(each->first, found);
        } else if (counts_on(*view, each->first, found)) {
            found.is_settled = true;
        } else if (is_time) {
            x_findings.erase(each);
        }
    }
    review_lost(*view, now_ms);
    if (!x_findings.empty() || !x_lost.empty()) review_later();
}

/// Whether more failures may still mean something.
bool webhook_health_job::counts_on(const registry::state::state_view& state, schemas::webhook_id id,
                                   const finding& found) {
    if (found.condition != webhook_condition::failing) return false;
    const auto hook = registry::tables::webhooks::find(state, id);
    if (!hook || hook->revision > found.revision || hook->status == schemas::webhook_status::disabled)
        return false;
    return !hook->failing_told || !hook->failing_counts || hook->disable_at_ms == 0;
}

/// A state that is behind the attempts may not know the scan yet, so nothing is forgotten at once.
void webhook_health_job::review_lost(const registry::state::state_view& state, std::int64_t now_ms) {
    for (auto next = x_lost.begin(); next != x_lost.end();) {
        const auto each = next++;
        lost_request& found = each->second;
        if (is_news(state, each->first, found)) {
            if (x_token != 0 && now_ms - found.told_ms >= limits::health_report_interval_ms)
                tell(each->first, found);
        } else if (now_ms - found.seen_ms >= limits::health_report_interval_ms) {
            x_lost.erase(each);
        }
    }
}

bool webhook_health_job::is_news(const registry::state::state_view& state, const request_and_webhook& key,
                                 const lost_request& found) const {
    const auto build = registry::tables::builds::find(state, found.build);
    const auto scan = build ? registry::tables::scans::find(state, build->scan_id) : std::nullopt;
    return scan && scan->event_id == key.first && scan->scan_status == schemas::scan_status::scanning &&
           std::ranges::any_of(scan->audience, [&](const schemas::scan_listener& each) {
               return each.webhook_id == key.second && each.ended == schemas::delivery_end::none;
           });
}

void webhook_health_job::tell(const request_and_webhook& key, lost_request& found) {
    found.told_ms = x_scheduler.time().steady_ms();
    const schemas::commands::delivery_ended ended{key.first, found.build, key.second, found.how, x_token};
    // An accepted report shows in the state; any other is sent again.
    x_registry.submit(schemas::commands::delivery_ended::type, schemas::encode(ended), {}, x_random.uuid(),
                      [](const auto&) {});
}

/// Whether the failures mean more than the row says.
bool webhook_health_job::adds_to(const schemas::webhook& hook, const finding& found) const {
    if (hook.failing_since_ms == 0) return true;
    const auto meaning = schemas::commands::meaning_of_failures(
        hook.failing_since_ms, found.failed_until_ms, found.failed_attempts, x_scheduler.time().wall_ms());
    return (found.failed_attempts > 0 && !hook.failing_counts) ||
           (meaning.is_failing && !hook.failing_told) || (meaning.may_disable && hook.disable_at_ms == 0);
}

bool webhook_health_job::is_news(const registry::state::state_view& state, schemas::webhook_id id,
                                 const finding& found) const {
    const auto hook = registry::tables::webhooks::find(state, id);
    if (!hook || hook->revision > found.revision || hook->status == schemas::webhook_status::disabled)
        return false;
    switch (found.condition) {
        case webhook_condition::healthy:
            return hook->failing_since_ms != 0 || hook->failing_told;
        case webhook_condition::failing:
            return adds_to(*hook, found);
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
    health.failed_until_ms = found.failed_until_ms;
    health.failed_attempts = found.failed_attempts;
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
