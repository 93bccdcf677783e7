// What operators hear of requests: metrics and lines of the log.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "runtime/http/server/request.hpp"
#include "runtime/log.hpp"
#include "runtime/metrics.hpp"

namespace herald::runtime::http::server {

/// Counts answers by status; knows each counter after its first use.
class request_metrics {
  public:
    request_metrics();
    void count(std::uint16_t status, std::int64_t duration_us);

  private:
    std::array<runtime::counter*, 600> x_by_status{};
    runtime::histogram& x_durations;
};

/// What is said of a request that was answered, beside what it says itself.
struct answered_request {
    std::uint16_t status;
    std::uint64_t body_bytes;  // of the answer
    std::int64_t duration_us;
    std::string_view remote_address;
};

/// The line `request`. The request is null where not even its head could be understood.
void log_answered(const request*, std::string_view request_id, const answered_request&);
/// The line `request_failed`: a bug of the handler, or a body that could not be made to its end.
void log_failed(runtime::log_level, const request&, std::string_view reason);

}  // namespace herald::runtime::http::server
