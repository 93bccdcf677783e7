// Answers predictions: finds endpoint, stage and component, has its model infer, and answers with its
// response (wire.md §6, spec.md §6.1).
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "api/serving/prediction_log.hpp"
#include "api/serving/route_book.hpp"
#include "runtime/event_loop.hpp"
#include "runtime/http/server/server.hpp"
#include "storage/node/node.hpp"

namespace herald::api::predictions {

/// All of them must outlive the service.
struct prediction_parts {
    serving::route_book& book;
    const serving::serving_gate& gate;
    serving::prediction_log& log;
    storage::node::registry_node& registry;
    runtime::event_loops& loops;
    /// Whether another node may have answered something that this one has not applied. A refusal that rests
    /// on the state then waits for the log first.
    bool has_other_nodes = false;
    std::string version;  // of the program, for callers
    /// This node is about to end and says that it is not ready.
    const std::atomic<bool>& is_draining;
    /// The time to drain is over: predictions that still wait for a model get 503.
    const std::atomic<bool>& is_drained;
    /// Whether this node serves predictions at all.
    bool are_served = true;
};

/// Takes the paths of predictions, and passes all others on. Thread-safe.
std::unique_ptr<runtime::http::server::request_handler> make_prediction_service(
    prediction_parts, runtime::http::server::request_handler& others);

}  // namespace herald::api::predictions
