// The parts of each kind of process, put together by hand: the only place, beside main, that sees the
// settings.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "events/kafka/kafka_log.hpp"
#include "events/log.hpp"
#include "runtime/descriptors.hpp"
#include "runtime/event_loop.hpp"
#include "runtime/key_ring.hpp"
#include "runtime/readiness.hpp"
#include "settings.hpp"
#include "storage/engine.hpp"
#include "storage/node/genesis.hpp"

namespace herald {

/// Exit codes (design.md §7), and what a part of the process asks main for: to begin again, and the same
/// after an I/O error, which may happen once.
enum class process_end : int { done = 0, failure = 1, mismatch = 3, restart = 256, reopen = 257 };

/// Called once or more, on any thread: the process is to end, or to begin again with its state made anew.
using end_request = std::function<void(process_end)>;

/// Says why on standard error; the exit code that belongs to the error.
process_end failed(const error& why);
/// What a new installation is made of. A key that was not given is made: 64 hexadecimal digits.
storage::genesis_options genesis_options_of(const settings&);

result<std::unique_ptr<events::kafka::kafka_log>> open_kafka(const settings&);

/// The key ring of an installation; made when it is not there and `is_new` says that nothing has begun.
/// Asking may block. Errors: failed_precondition when it is missing and something has; those of the key ring
/// and of `is_new`.
result<runtime::key_ring> ring_of(const std::filesystem::path&, const std::function<result<bool>()>& is_new);

/// Makes DIR/herald, for its owner's eyes only; existing ones become so.
result<std::filesystem::path> make_folder(const settings&);
/// Writes an administrator's e-mail and key for the owner's eyes only; what was there is replaced.
result<void> write_key_file(const std::filesystem::path&, const std::string& email, const std::string& key);
/// What webhooks may be: public addresses and, if any, these; http or https only.
void say_that_it_runs(std::string_view event, const settings&, const std::string& where);
/// Applies the log from its start into `rows` (empty), up to `next_offset` or, with 0, to its end; the
/// position there. Errors: not_found when the log ends before; those of the log and of apply.
result<storage::engine_position> apply_log(events::log&, storage::state_store& rows,
                                           std::uint64_t next_offset);

/// The log that the operator named: Kafka's, or the embedded one in `folder` of a standalone that is stopped.
result<std::unique_ptr<events::log>> open_log(const settings&, const std::filesystem::path& folder);
/// Waits until the log holds it. Errors: those of the log.
result<void> append_command(events::log&, std::string bytes);

/// An API node: HTTP, the registry, its jobs. Made and destroyed by the main thread.
class api_node {
  public:
    virtual ~api_node() = default;
    virtual std::uint16_t port() const = 0;
    /// Stops accepting, finishes what is in flight, hands over claims; at most limits::drain_ms_max.
    virtual void drain() = 0;
};

/// The loop of a node's jobs, or of a worker. It outlives the log, which answers the last questions from its
/// destructor: their answers are posted to a loop that has stopped, and dropped with it.
inline constexpr runtime::event_loops_options one_loop{.loops = 1, .cores = {}, .blocking_threads = 1};

/// What a node stands on; outlives it.
struct node_ground {
    events::log& log;
    const runtime::key_ring& keys;
    runtime::descriptor_shares descriptors;
    runtime::event_loops& jobs;  // one loop; stopped by the node's end
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
    /// From now on it says so, once, when it delivers.
    virtual void announce() = 0;
    /// Why it is not ready, as of the last second. Any thread.
    virtual std::optional<runtime::trouble> trouble() const = 0;
    virtual void drain() = 0;
};
result<std::unique_ptr<worker_node>> make_worker_node(const settings&, node_ground, end_request);

/// Runs until told to stop by a signal or a part; the exit code, or restart, or reopen.
process_end run_standalone(const settings&);
process_end run_api(const settings&);
process_end run_worker(const settings&);
/// Run once and end.
process_end run_init(const settings&);
process_end run_admin_key(const settings&);
process_end run_raise_level(const settings&);
process_end run_state_hash(const settings&);
process_end run_groups(const settings&);

}  // namespace herald
