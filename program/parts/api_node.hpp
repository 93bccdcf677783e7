// An API node: HTTP, the registry, and its jobs.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "program/parts/node_parts.hpp"
#include "program/parts/process_end.hpp"
#include "runtime/readiness.hpp"

namespace herald::program {

/// Created and destroyed by the main thread.
class api_node {
  public:
    virtual ~api_node() = default;
    /// Stops accepting, finishes what is in flight, hands over claims; takes at most limits::drain_ms_max
    /// less limits::drain_worker_ms_min.
    virtual void drain() = 0;
};

/// Callable on any thread.
using trouble_source = std::function<std::optional<runtime::trouble>()>;

/// Opens the state, then begins to apply and to serve; its doors lead to it from then on. `report`: what it
/// does until then. Errors: failed_precondition when data and log do not match (exit code 3); others: exit
/// code 1.
/// `beside`: trouble in other parts of the process, which /readyz also reports.
result<std::unique_ptr<api_node>> make_api_node(const settings&, api_node_parts, end_request,
                                                trouble_source beside, start_report& report);

}  // namespace herald::program
