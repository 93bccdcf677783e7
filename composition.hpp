// The parts of each kind of process, put together by hand: the only place, beside main, that sees the
// settings.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "events/log.hpp"
#include "runtime/key_ring.hpp"
#include "runtime/readiness.hpp"
#include "settings.hpp"
#include "storage/node/genesis.hpp"

namespace herald {

/// Exit codes (design.md §7), and what a part of the process asks main for.
enum class process_end : int { done = 0, failure = 1, mismatch = 3, restart = 256 };

/// Called once or more, on any thread: the process is to end, or to begin again with its state made anew.
using end_request = std::function<void(process_end)>;

/// Says why on standard error; the exit code that belongs to the error.
process_end failed(const error& why);
/// What a new installation is made of. A key that was not given is made: 64 hexadecimal digits.
storage::genesis_options genesis_options_of(const settings&);

result<std::unique_ptr<events::log>> open_kafka(const settings&);

/// An API node: HTTP, the registry, its jobs. Made and destroyed by the main thread.
class api_node {
  public:
    virtual ~api_node() = default;
    virtual std::uint16_t port() const = 0;
    /// Stops accepting, finishes what is in flight, hands over claims; at most limits::drain_ms_max.
    virtual void drain() = 0;
};

/// What an API node stands on; outlives it.
struct node_ground {
    events::log& log;
    const runtime::key_ring& keys;
};

/// Any thread.
using trouble_source = std::function<std::optional<runtime::trouble>()>;

/// Opens the state, begins to apply and to serve. Errors: failed_precondition when data and log do not match
/// (exit code 3); others: exit code 1.
/// `beside`: trouble of what else is in the process, which /readyz tells, too.
result<std::unique_ptr<api_node>> make_api_node(const settings&, node_ground, end_request,
                                                trouble_source beside);

/// A worker: consumes events, delivers them.
class worker_node {
  public:
    virtual ~worker_node() = default;
    /// Why it is not ready, as of the last second. Any thread.
    virtual std::optional<runtime::trouble> trouble() const = 0;
    virtual void drain() = 0;
};
result<std::unique_ptr<worker_node>> make_worker_node(const settings&, node_ground, end_request);

/// Runs until told to stop by a signal or a part; the exit code, or process_end::restart.
process_end run_standalone(const settings&);
process_end run_api(const settings&);
process_end run_worker(const settings&);
/// Run once and end.
process_end run_init(const settings&);
process_end run_admin_key(const settings&);
process_end run_state_hash(const settings&);

}  // namespace herald
