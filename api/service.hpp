// The request handler of an API node: finds the route, the state and the caller, and calls the handler.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/calls/call.hpp"
#include "api/operations/operator_endpoints.hpp"
#include "runtime/http/server/server.hpp"

namespace herald::api {

struct service_options {
    operations::metrics_here metrics = operations::metrics_here::yes;
    operations::readiness ready;
};

/// Thread-safe. `loops` runs the scans of many rows on its blocking pool; both outlive it.
std::unique_ptr<runtime::http::server::request_handler> make_service(calls::services&,
                                                                     runtime::event_loops& loops,
                                                                     service_options);

}  // namespace herald::api
