// Makes the request of an attempt from the webhook's row as it is now (delivery.md §2). Pure.
#pragma once

#include <string>
#include <string_view>

#include "runtime/key_ring.hpp"
#include "workers/fan_out.hpp"
#include "workers/transport.hpp"

namespace herald::workers {

struct request_parts {
    const runtime::key_ring& keys;
    std::string_view header_prefix;
    std::int64_t wall_ms = 0;  // receivers compare it with their own clock
    std::int64_t log_ms = 0;   // an earlier secret signs until a time of the log's clock
};

struct made_request {
    delivery_request request;
    std::string headers_for_history;  // without secrets
};

/// Errors: failed_precondition when a secret of the webhook does not open with these keys.
result<made_request> make_request(const delivery_of_event&, const schemas::subscriber&, const request_parts&);

}  // namespace herald::workers
