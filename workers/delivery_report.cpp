// Which lines and metrics, and how often.
#include "workers/delivery_report.hpp"

#include <algorithm>

#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "runtime/metric_names.hpp"
#include "runtime/metrics.hpp"
#include "runtime/text.hpp"

namespace herald::workers {

namespace {

using schemas::attempt_result;
using schemas::delivery_source;

/// Classes, for a label: the text with the reason is in the log line and in the history of deliveries.
std::string_view reason_of(const schemas::attempt& attempt, const schemas::event& event) {
    if (!event.refused.empty()) return "refused";
    if (attempt.number == 0) return "backlog";
    if (attempt.disable_webhook) return "gone";
    return name_of(attempt.error);
}

void measure(const schemas::attempt& attempt, const schemas::event& event) {
    namespace metrics = runtime::metrics;
    if (attempt.number > 0)
        runtime::metric_histogram(metrics::attempt_seconds, {{"result", name_of(attempt.result)}})
            .observe_us(attempt.total_us);
    if (attempt.source == delivery_source::test) return;
    if (attempt.number > 0)
        runtime::metric_counter(
            metrics::webhook_attempts,
            {{"webhook", std::to_string(attempt.webhook_id.value)},
             {"result", attempt.result == attempt_result::succeeded ? "succeeded" : "failed"}})
            .add();
    if (attempt.result == attempt_result::dead)
        runtime::metric_counter(metrics::dead, {{"reason", reason_of(attempt, event)}}).add();
    if (attempt.result == attempt_result::succeeded && attempt.source == delivery_source::event) {
        const std::int64_t waited_ms = std::max<std::int64_t>(0, attempt.time_ms - event.time_ms);
        runtime::metric_histogram(metrics::delivery_seconds, {{"event", name_of(attempt.event_type)}})
            .observe_us(waited_ms * 1'000 + attempt.total_us);
    }
}

void tell_attempt(const schemas::attempt& attempt, const schemas::event& event, std::string_view webhook) {
    runtime::log(runtime::log_level::info, runtime::log_events::delivery_attempted,
                 {{"webhook_id", static_cast<std::int64_t>(attempt.webhook_id.value)},
                  {"webhook_name", webhook},
                  {"workspace", event.workspace_name},
                  {"delivery_id", attempt.delivery_id},
                  {"event_id", attempt.event_id},
                  {"event_type", name_of(attempt.event_type)},
                  {"resource_type", name_of(attempt.resource_type)},
                  {"resource_id", attempt.resource_id},
                  {"resource_name", event.subject},
                  {"source", name_of(attempt.source)},
                  {"attempt", std::int64_t{attempt.number}},
                  {"result", name_of(attempt.result)},
                  {"error", name_of(attempt.error)},
                  {"status", std::int64_t{attempt.status}},
                  {"address", attempt.address},
                  {"duration_us", std::int64_t{attempt.total_us}}});
}

}  // namespace

void delivery_report::saw(const schemas::attempt& attempt, const schemas::event& event, std::string_view name,
                          std::int64_t now_ms) {
    measure(attempt, event);
    if (attempt.number > 0) tell_attempt(attempt, event, name);
    if (attempt.source == delivery_source::test) return;  // the caller of the test is told
    std::string_view what = runtime::log_events::delivery_failed;
    auto level = runtime::log_level::warning;
    switch (attempt.result) {
        case attempt_result::succeeded:
            return;
        case attempt_result::skipped:
            what = runtime::log_events::delivery_skipped;
            level = runtime::log_level::info;
            break;
        case attempt_result::will_retry:
            break;
        case attempt_result::dead:
            what = runtime::log_events::delivery_dead;
            level = runtime::log_level::error;
            break;
        case attempt_result::held:
            what = runtime::log_events::delivery_held;
            break;
    }
    const auto left_out = may_tell(attempt.webhook_id, attempt.result, now_ms);
    if (!left_out) return;
    const std::string next =
        attempt.next_attempt_ms == 0 ? std::string() : runtime::iso8601_ms(attempt.next_attempt_ms);
    runtime::log(level, what,
                 {{"webhook_id", static_cast<std::int64_t>(attempt.webhook_id.value)},
                  {"webhook_name", name},
                  {"workspace", event.workspace_name},
                  {"delivery_id", attempt.delivery_id},
                  {"event_id", attempt.event_id},
                  {"event_type", name_of(attempt.event_type)},
                  {"resource_type", name_of(attempt.resource_type)},
                  {"resource_id", attempt.resource_id},
                  {"resource_name", event.subject},
                  {"attempt", std::int64_t{attempt.number}},
                  {"error", name_of(attempt.error)},
                  {"status", std::int64_t{attempt.status}},
                  {"message", attempt.message},
                  {"next_attempt", next},
                  {"left_out", static_cast<std::int64_t>(*left_out)}});
}

std::optional<std::uint64_t> delivery_report::may_tell(schemas::webhook_id webhook, attempt_result result,
                                                       std::int64_t now_ms) {
    if (x_told.size() >= webhooks_max) x_told.clear();
    const auto [at, is_new] = x_told.try_emplace({webhook, result});
    window& mine = at->second;
    if (is_new || now_ms - mine.since_ms >= window_ms) {
        mine.since_ms = now_ms;
        mine.lines = 0;
    }
    if (mine.lines == lines_max) {
        ++mine.left_out;
        return std::nullopt;
    }
    ++mine.lines;
    return std::exchange(mine.left_out, 0);
}

}  // namespace herald::workers
