#include "runtime/http/server/request_report.hpp"

#include <algorithm>
#include <chrono>
#include <string>

#include "runtime/log_events.hpp"

namespace herald::runtime::http::server {

std::int64_t steady_us() noexcept {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(since).count();
}

request_metrics::request_metrics()
    : x_durations(runtime::metric_histogram(runtime::metrics::http_request_seconds)) {}

void request_metrics::count(std::uint16_t status, std::int64_t duration_us) {
    runtime::counter*& counter = x_by_status[std::min<std::size_t>(status, x_by_status.size() - 1)];
    if (!counter) {
        const std::string text = std::to_string(status);
        counter = &runtime::metric_counter(runtime::metrics::http_requests, {{"status", text}});
    }
    counter->add();
    x_durations.observe_us(duration_us);
}

void log_answered(const request* asked, std::string_view request_id, const answered_request& done) {
    runtime::log(runtime::log_level::info, runtime::log_events::request,
                 {{"method", asked ? name_of(asked->method) : std::string_view()},
                  {"path", asked ? asked->path : std::string_view()},
                  {"status", std::int64_t{done.status}},
                  {"bytes", static_cast<std::int64_t>(done.body_bytes)},
                  {"duration_us", done.duration_us},
                  {"request_id", request_id},
                  {"remote", done.remote_address}});
}

void log_failed(runtime::log_level level, const request& asked, std::string_view reason) {
    runtime::log(level, runtime::log_events::request_failed,
                 {{"method", name_of(asked.method)},
                  {"path", asked.path},
                  {"request_id", asked.request_id},
                  {"reason", reason}});
}

}  // namespace herald::runtime::http::server
