#include "storage/node/command_gateway.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "events/log/topics.hpp"
#include "runtime/assert.hpp"
#include "runtime/lifetime.hpp"
#include "runtime/mutex.hpp"
#include "schemas/commands/limits.hpp"
#include "storage/node/limits.hpp"
#include "storage/node/membership.hpp"
#include "storage/node/node.hpp"

namespace herald::storage::node {
namespace {

using schemas::commands::command_envelope;
using schemas::commands::command_type;
using std::chrono::steady_clock;

constexpr std::size_t reserved_for_nodes = 64;  // so that users cannot block the node's own commands

bool is_of_node(command_type type) {
    return schemas::commands::find_command(type)->traits.from == schemas::commands::sender::node;
}

/// Whether two copies in the log have the effect of one. Commands without a key leave no row by which a copy
/// could be recognised.
bool may_repeat(const command_envelope& command) {
    return !command.request.idempotency_key.empty() || is_of_node(command.type);
}

/// The request is known to this node but not yet to others: it may be sent after the level is raised.
error too_early(const schemas::commands::listed_command& kind, const applied_state& state) {
    std::string message = std::string(kind.name) + " needs level " + std::to_string(kind.traits.level) +
                          "; the level in force is " + std::to_string(state.level);
    std::string older;
    for (const schemas::node_row& node : nodes_below(state, kind.traits.level))
        older += (older.empty() ? "" : ", ") + node.node + " (level " + std::to_string(node.level) + ")";
    message += older.empty() ? ": `herald raise-level` raises it, or wait 10 minutes"
                             : ": upgrade the older nodes first: " + older;
    return runtime::unavailable(std::move(message));
}

/// Refused only for its not_after: the log's clock was ahead of what this node had applied.
bool was_too_late(const schemas::commands::outcome& outcome) {
    return outcome.code == static_cast<std::uint32_t>(error_code::unavailable) && outcome.offset == 0;
}

}  // namespace

command_gateway::command_gateway(const parts& with)
    : x_parts(with), x_producer(with.log.open_producer(events::log::producer_kind::ordinary)) {}

command_gateway::~command_gateway() { close(); }

void command_gateway::submit(command_type type, std::string body, schemas::commands::request_identity who,
                             const schemas::uuid& command_id, outcome_handler handler) {
    const auto state = x_parts.state->newest();
    const schemas::commands::listed_command* const kind = schemas::commands::find_command(type);
    HERALD_ASSERT(kind);
    if (const auto refused = refusal(*kind, *state)) return handler(*refused);
    waiter waiting;
    waiting.command.command_id = command_id;
    waiting.command.request = std::move(who);
    waiting.command.level = kind->traits.level;
    waiting.command.type = type;
    waiting.command.body = std::move(body);
    waiting.handler = std::move(handler);
    waiting.deadline_ms = x_parts.scheduler.time().steady_ms() + limits::outcome_wait_ms_max;
    stamp(waiting.command, *state);
    add(std::move(waiting));
}

std::optional<error> command_gateway::refusal(const schemas::commands::listed_command& kind,
                                              const applied_state& state) const {
    if (!state.installation) return runtime::unavailable("this node has not read its log yet");
    if (x_parts.disk && x_parts.disk->is_low() && !kind.traits.passes_full_disk)
        return runtime::unavailable(std::string(disk_low_message));
    if (kind.traits.level > state.level) return too_early(kind, state);
    const runtime::lock_guard lock(x_mutex);
    if (x_is_closed) return runtime::unavailable("this node is shutting down");
    if (kind.traits.from == schemas::commands::sender::node) return std::nullopt;
    if (x_waiting.size() + reserved_for_nodes >= limits::commands_in_flight_max)
        return runtime::unavailable("too many commands are under way; try again");
    return std::nullopt;
}

void command_gateway::stamp(command_envelope& command, const applied_state& state) const {
    command.log_id = state.installation->log_id;
    command.generation = state.installation->generation;
    command.sender_clock_ms = x_parts.log.time_ms().value_or(x_parts.scheduler.time().wall_ms());
    command.not_after_ms = state.position.time_ms + limits::not_after_ms;
}

void command_gateway::add(waiter waiting) {
    std::string bytes = schemas::commands::seal_envelope(waiting.command);
    if (bytes.size() > limits::command_bytes_max)
        return waiting.handler(
            runtime::invalid_argument({"the request makes a command of ", bytes.size(),
                                       " bytes; the most is ", limits::command_bytes_max}));
    const schemas::uuid id = waiting.command.command_id;
    {
        const runtime::lock_guard lock(x_mutex);
        x_waiting.emplace(id, std::move(waiting));
    }
    append(id, std::move(bytes));
}

void command_gateway::append(const schemas::uuid& id, std::string bytes) {
    const auto accepted = x_producer->append(
        {std::string(events::log::topic::commands), 0}, std::string(), std::move(bytes),
        runtime::if_alive(weak_from_this(), [id, began = steady_clock::now()](
                                                command_gateway& self, const result<std::int64_t>& done) {
            if (!done) return self.append_failed(id, done.error());
            self.appended(*done, steady_clock::now() - began);
        }));
    if (!accepted) append_failed(id, accepted.error());
}

void command_gateway::appended(std::int64_t offset, steady_clock::duration took) {
    x_append_time.observe_us(std::chrono::duration_cast<std::chrono::microseconds>(took).count());
    const auto end = static_cast<std::uint64_t>(offset + 1);  // 0: the log did not say
    std::uint64_t before = x_log_end;
    while (before < end && !x_log_end.compare_exchange_weak(before, end)) continue;
}

void command_gateway::append_failed(const schemas::uuid& id, const error& reason) {
    runtime::unique_lock lock(x_mutex);
    const auto found = x_waiting.find(id);
    if (found == x_waiting.end()) return;
    waiter& waiting = found->second;
    if (reason.code == error_code::unavailable) waiting.may_be_in_log = true;
    // A heartbeat is neither repeated nor waited for: the next one comes soon, with newer content.
    if (!waiting.may_be_in_log || waiting.command.type == schemas::commands::node_heartbeat::type) {
        const outcome_handler handler = std::move(waiting.handler);
        x_waiting.erase(found);
        lock.unlock();
        return handler(runtime::unavailable({"the log did not take the command: ", reason.message}));
    }
    if (!may_repeat(waiting.command)) return;
    const std::int64_t delay_ms = std::min(limits::append_repeat_ms_base << std::min(waiting.appends, 8u),
                                           limits::append_repeat_ms_max);
    ++waiting.appends;
    lock.unlock();
    repeat_later(id, delay_ms);
}

void command_gateway::repeat_later(const schemas::uuid& id, std::int64_t delay_ms) {
    const auto again = runtime::if_alive(weak_from_this(), [id](command_gateway& self) { self.repeat(id); });
    x_parts.scheduler.post([again, delay_ms, &scheduler = x_parts.scheduler] {
        scheduler.run_at(scheduler.time().steady_ms() + delay_ms, again);
    });
}

void command_gateway::repeat(const schemas::uuid& id) {
    std::string bytes;
    {
        const runtime::lock_guard lock(x_mutex);
        const auto found = x_waiting.find(id);
        if (found == x_waiting.end()) return;
        bytes = schemas::commands::seal_envelope(found->second.command);  // the same bytes again
    }
    append(id, std::move(bytes));
}

void command_gateway::complete(registry::engine::applied_record& applied) {
    if (!applied.command_id) return;
    const bool is_too_late = was_too_late(applied.outcome);
    waiters::node_type found;
    {
        const runtime::lock_guard lock(x_mutex);
        const auto here = x_waiting.find(*applied.command_id);
        if (here == x_waiting.end()) return;
        // A late copy from before the command was restamped says nothing about the one still in flight.
        if (is_too_late && x_parts.state->newest()->position.time_ms <= here->second.command.not_after_ms)
            return;
        found = x_waiting.extract(here);
    }
    waiter& waiting = found.mapped();
    if (is_too_late && ++waiting.times_too_late < limits::times_too_late_max) {
        stamp(waiting.command, *x_parts.state->newest());
        waiting.may_be_in_log = false;  // no copy of it will ever take effect
        return add(std::move(waiting));
    }
    waiting.handler(std::move(applied.outcome));
}

void command_gateway::expire() {
    const std::int64_t now_ms = x_parts.scheduler.time().steady_ms();
    std::vector<waiter> expired;
    {
        const runtime::lock_guard lock(x_mutex);
        for (auto next = x_waiting.begin(); next != x_waiting.end();) {
            const auto one = next++;
            if (one->second.deadline_ms <= now_ms)
                expired.push_back(std::move(x_waiting.extract(one).mapped()));
        }
    }
    for (waiter& one : expired) answer_unknown(one);
}

void command_gateway::close() {
    waiters all;
    {
        const runtime::lock_guard lock(x_mutex);
        x_is_closed = true;
        all.swap(x_waiting);
    }
    for (auto& [id, one] : all) answer_unknown(one);
}

std::size_t command_gateway::in_flight() const {
    const runtime::lock_guard lock(x_mutex);
    const auto count = std::count_if(x_waiting.begin(), x_waiting.end(),
                                     [](const auto& each) { return !is_of_node(each.second.command.type); });
    return static_cast<std::size_t>(count);
}

void command_gateway::answer_unknown(waiter& waiting) {
    x_unknown.add();
    waiting.handler(outcome_unknown(!waiting.command.request.idempotency_key.empty()));
}

error outcome_unknown(bool has_key) {
    if (!has_key) return runtime::internal("outcome unknown, read back before repeating");
    return runtime::unavailable(
        "the log did not answer in time; repeat the request with the same Idempotency-Key");
}

}  // namespace herald::storage::node
