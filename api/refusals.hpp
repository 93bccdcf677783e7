// Refusals that leave no row in the audit, so that strangers cannot fill it: a counter, and a log line now
// and then (design.md §1, wire.md §2).
#pragma once

#include <atomic>

#include "runtime/clock.hpp"
#include "runtime/error.hpp"
#include "runtime/http/server/request.hpp"
#include "runtime/metrics.hpp"

namespace herald::api {

/// Owned by the service; any thread.
class refusals {
  public:
    explicit refusals(const runtime::clock&);
    /// A request without valid credentials, or a read of what the caller may not see. Others are not counted.
    void note(const runtime::http::server::request& received, const error& why) {
        note(received, why, received.path);
    }
    /// The same; the line shows this in place of the path, because the path itself gives access.
    void note(const runtime::http::server::request&, const error&, std::string_view path);

  private:
    const runtime::clock& x_clock;
    std::atomic<std::int64_t> x_next_line_ms{0};
    std::atomic<std::int64_t> x_left_out{0};
    runtime::counter& x_unauthenticated;
    runtime::counter& x_denied;
    runtime::counter& x_not_found;
};

}  // namespace herald::api
