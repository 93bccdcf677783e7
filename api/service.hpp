// The request handlers of a process: they find route, state and caller, and call the handler.
#pragma once

#include <memory>
#include <span>

#include "api/calls/document_part.hpp"
#include "api/calls/public_call.hpp"
#include "api/calls/services.hpp"
#include "api/routes/routes.hpp"
#include "runtime/http/server/server.hpp"

namespace herald::api {

struct service_options {
    /// Outlives the service.
    std::span<const calls::route> table = routes::all_routes();
    calls::readiness ready;
    calls::document_part beside_table;  // what others answer
};

/// Thread-safe. Scans of many rows run on the blocking pool of `loops`; both arguments outlive it.
std::unique_ptr<runtime::http::server::request_handler> make_service(const calls::services&,
                                                                     runtime::event_loops& loops,
                                                                     service_options);

/// While a node starts: answers operators, without /metrics if another address has it, and everybody else 503
/// with the reason that /readyz has. Thread-safe.
std::unique_ptr<runtime::http::server::request_handler> make_starting_service(calls::readiness,
                                                                              routes::metrics_here);

/// Answers only /healthz, /readyz and /metrics: for workers, and for a separate metrics address. Thread-safe.
std::unique_ptr<runtime::http::server::request_handler> make_operator_service(calls::readiness);

}  // namespace herald::api
