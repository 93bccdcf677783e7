// A worker: consumes events and delivers them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "program/parts/doors.hpp"
#include "program/parts/node_parts.hpp"
#include "program/parts/process_end.hpp"
#include "runtime/readiness.hpp"

namespace herald::program {

/// Created and destroyed by the main thread.
class worker_node {
  public:
    virtual ~worker_node() = default;
    /// From now on it logs, once, when it begins to deliver.
    virtual void announce() = 0;
    /// Why it is not ready, as of the last second. Callable on any thread.
    virtual std::optional<runtime::trouble> trouble() const = 0;
    /// Accepts nothing more and finishes what is in flight, for at most `within_ms`.
    virtual void drain(std::int64_t within_ms) = 0;
};

/// Begins to consume. `operators`: where the worker serves health and metrics from then on; null if an API
/// node in the same process does that, or nobody. Errors: unavailable when the log is out of reach; not_found
/// when a topic is missing.
result<std::unique_ptr<worker_node>> make_worker_node(const settings&, node_parts, end_request,
                                                      door* operators);

}  // namespace herald::program
