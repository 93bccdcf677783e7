// What is asked without credentials: /healthz, /readyz, /metrics by operators, `OPTIONS *` by proxies.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runtime/http/server/server.hpp"
#include "runtime/readiness.hpp"
#include "storage/node/node.hpp"

namespace herald::api::operations {

enum class metrics_here : bool { no, yes };

/// What /readyz says: 503 with the reason while there is one.
struct readiness_report {
    std::optional<runtime::trouble> not_ready;
    std::string body;  // a JSON object
};
/// Of a worker: {"status", and where it is not ready "reason" and "message"}.
readiness_report report_of(std::optional<runtime::trouble> not_ready);
/// Of an API node: also "writes_refused", then with the reason too, and "next_offset" and "hash": nodes at
/// the same offset must show the same hash (P5). `beside`: trouble that the node does not know of.
readiness_report report_of(const storage::node::registry_node::status&,
                           const std::optional<runtime::trouble>& beside);

/// Called on any thread.
using readiness = std::function<readiness_report()>;

/// Nothing when the request is for something else.
std::optional<runtime::http::http_response> answer_operator(const runtime::http::server::request&,
                                                            const readiness&, metrics_here);

/// The refusal of any method but GET and HEAD; nothing when it is one of these.
std::optional<runtime::http::http_response> refuse_all_but_get(const runtime::http::server::request&);

/// Answers nothing but that: for workers, and for metrics on an address of their own.
std::unique_ptr<runtime::http::server::request_handler> make_operator_service(readiness);

}  // namespace herald::api::operations
