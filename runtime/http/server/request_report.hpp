// What operators learn about requests: metrics and log lines.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "runtime/http/server/request.hpp"
#include "runtime/log.hpp"
#include "runtime/metrics.hpp"

namespace herald::runtime::http::server {

/// Of a clock that only goes forward.
std::int64_t steady_us() noexcept;

/// Counts answers by status; remembers each counter after its first use.
class request_metrics {
  public:
    request_metrics();
    void count(std::uint16_t status, std::int64_t duration_us);

  private:
    std::array<runtime::counter*, 600> x_by_status{};
    runtime::histogram& x_durations;
};

/// What is reported about an answered request in addition to its own content.
struct answered_request {
    std::uint16_t status;
    std::uint64_t body_bytes;  // of the answer
    std::int64_t duration_us;
    std::string_view remote_address;
};

/// Writes the line `request`. The request is null when not even its head could be parsed.
void log_answered(const request*, std::string_view request_id, const answered_request&);
/// Writes the line `request_failed`: a bug in the handler, or a body that could not be completed.
void log_failed(runtime::log_level, const request&, std::string_view reason);

}  // namespace herald::runtime::http::server
