#include "api/refusals.hpp"

#include "api/limits.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"

namespace herald::api {
namespace {

runtime::counter& counter_of(error_code code) {
    return runtime::metric_counter(runtime::metrics::access_refused, {{"reason", runtime::name_of(code)}});
}

}  // namespace

refusals::refusals(const runtime::clock& clock)
    : x_clock(clock),
      x_unauthenticated(counter_of(error_code::unauthenticated)),
      x_denied(counter_of(error_code::permission_denied)),
      x_not_found(counter_of(error_code::not_found)) {}

void refusals::note(const runtime::http::server::request& received, const error& why, std::string_view path) {
    if (why.code == error_code::unauthenticated)
        x_unauthenticated.add();
    else if (why.code == error_code::permission_denied)
        x_denied.add();
    else if (why.code == error_code::not_found)
        x_not_found.add();
    else
        return;
    const std::int64_t now_ms = x_clock.steady_ms();
    std::int64_t next_ms = x_next_line_ms.load(std::memory_order_relaxed);
    if (now_ms < next_ms ||
        !x_next_line_ms.compare_exchange_strong(next_ms, now_ms + limits::between_refusal_lines_ms)) {
        x_left_out.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    runtime::log(runtime::log_level::warning, runtime::log_events::access_refused,
                 {{"reason", runtime::name_of(why.code)},
                  {"method", name_of(received.method)},
                  {"path", path},
                  {"remote", received.remote_address},
                  {"left_out", x_left_out.exchange(0)}});
}

}  // namespace herald::api
