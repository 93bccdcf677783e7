// Takes a command into the log, and its outcome back to the sender (design.md §1).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "events/log/log.hpp"
#include "runtime/metrics.hpp"
#include "runtime/mutex.hpp"
#include "runtime/random.hpp"
#include "runtime/scheduler.hpp"
#include "schemas/binary.hpp"
#include "schemas/commands/all.hpp"
#include "storage/node/disk_guard.hpp"
#include "storage/node/replica.hpp"

namespace herald::storage::node {

/// Waits for command ids, never for offsets: a record may be stored later than the log says, or twice. At
/// most limits::commands_in_flight_max commands wait at a time, none longer than limits::outcome_wait_ms_max.
/// Thread-safe; handlers are called once, on any thread, possibly from within submit().
class command_gateway : public std::enable_shared_from_this<command_gateway> {
  public:
    using outcome_handler = std::function<void(result<schemas::commands::outcome>)>;
    /// All of them must outlive the gateway; `disk` may be null.
    struct parts {
        events::log::partitioned_log& log;
        std::shared_ptr<const replica> state;
        runtime::scheduler& scheduler;
        runtime::random_source& random;
        const disk_guard* disk = nullptr;
    };

    explicit command_gateway(const parts&);
    ~command_gateway();

    /// Errors: as registry_node::submit. `type` is one of schemas::commands::all_commands.
    void submit(schemas::commands::command_type, std::string body, schemas::commands::request_identity,
                const schemas::uuid& command_id, outcome_handler);
    /// Submits a command of the node itself.
    template <schemas::commands::any_command Command>
    void submit_own(const Command& command, outcome_handler handler) {
        submit(Command::type, schemas::encode(command), {}, x_parts.random.uuid(), std::move(handler));
    }
    /// The replica applied a record. If a sender waits for its outcome, takes the outcome from the record.
    void complete(registry::engine::applied_record&);
    /// Answers senders that have waited too long. On the scheduler's thread, about once a second.
    void expire();

    /// Accepts no more commands. All waiting senders get an unknown outcome.
    void close();
    /// Number of users' commands in flight.
    std::size_t in_flight() const;
    /// The offset after this node's newest command that is known to be in the log.
    std::uint64_t log_end() const noexcept { return x_log_end; }

  private:
    struct waiter {
        schemas::commands::command_envelope command;
        outcome_handler handler;
        std::int64_t deadline_ms = 0;
        unsigned appends = 1;
        unsigned times_too_late = 0;
        bool may_be_in_log = false;  // one of its appends failed without a clear answer
    };
    struct hash_of_id {
        std::size_t operator()(const schemas::uuid& id) const noexcept {
            std::size_t hash = 0;
            std::memcpy(&hash, id.data(), sizeof hash);  // ids are random
            return hash;
        }
    };
    using waiters = std::unordered_map<schemas::uuid, waiter, hash_of_id>;

    std::optional<error> refusal(const schemas::commands::listed_command&, const applied_state&) const;
    void stamp(schemas::commands::command_envelope&, const applied_state&) const;
    void add(waiter);
    void append(const schemas::uuid& id, std::string bytes);
    void append_failed(const schemas::uuid& id, const error& reason);
    void repeat_later(const schemas::uuid& id, std::int64_t delay_ms);
    void repeat(const schemas::uuid& id);
    void appended(std::int64_t offset, std::chrono::steady_clock::duration took);
    void answer_unknown(waiter&);

    const parts x_parts;
    mutable runtime::mutex x_mutex;
    waiters x_waiting GUARDED_BY(x_mutex);
    bool x_is_closed GUARDED_BY(x_mutex) = false;
    std::atomic<std::uint64_t> x_log_end = 0;
    runtime::histogram& x_append_time = runtime::metric_histogram(runtime::metrics::append_seconds);
    runtime::counter& x_unknown = runtime::metric_counter(runtime::metrics::outcomes_unknown);
    const std::unique_ptr<events::log::producer> x_producer;  // destroyed first
};

}  // namespace herald::storage::node
