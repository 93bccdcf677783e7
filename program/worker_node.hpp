// A worker: consumes events and delivers them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "program/node_parts.hpp"
#include "program/process_end.hpp"
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

/// Who serves health and metrics for a worker: the worker itself, if it was given an address, or an API node
/// in the same process.
enum class operator_answers : std::uint8_t { by_itself, by_the_api_node };

/// Begins to consume and to serve. Errors: unavailable when the log is out of reach or the address cannot be
/// listened on; not_found when a topic is missing; invalid_argument for TLS files that cannot be used.
result<std::unique_ptr<worker_node>> make_worker_node(const settings&, node_parts, end_request,
                                                      operator_answers);

}  // namespace herald::program
