// Whether all nodes that answer predictions have confirmed a command that takes something away from them: a
// build that was reported unsafe (promise P7, design.md §4), an access token, an endpoint.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "api/calls/handler.hpp"
#include "api/deployment/services.hpp"
#include "schemas/answers/deployment.hpp"
#include "schemas/answers/endpoint_records.hpp"
#include "storage/registry/find/serving_nodes.hpp"

namespace herald::api::deployment {

/// The nodes that serve predictions and have not confirmed the record at the offset, each with the time by
/// which it stops by itself. Empty standalone.
std::vector<schemas::answers::unconfirmed_node> unconfirmed_at(const services&,
                                                               const storage::registry::state::state_view&,
                                                               std::uint64_t offset);

/// The sources of confirmations. All of them outlive the wait.
struct confirmation_sources {
    /// See registry_node::read_now, after_next_heartbeat, and options::quiesce, which may be empty.
    std::function<std::optional<storage::node::registry_node::reading>()> read_applied;
    std::function<void(std::function<void()>)> after_next_heartbeat;
    std::function<void(std::function<void()>)> quiesce;
    runtime::scheduler& loop;
    bool has_other_nodes = false;
};
/// As wait_until_confirmed_at, on the loop where it calls back. Looks whenever a heartbeat was applied,
/// because heartbeats carry the confirmations.
void when_confirmed(const confirmation_sources&, std::uint64_t offset, std::function<void()> confirmed);

/// Ends when every node in contact has confirmed the record at the offset, at the latest after
/// limits::confirmation_ms_max. Standalone, it ends once this node's event loops have ended their step.
boost::asio::awaitable<void> wait_until_confirmed_at(calls::writing_call&, std::uint64_t offset);
template <schemas::commands::withdrawing_command Command>
boost::asio::awaitable<void> wait_until_confirmed(calls::writing_call& call, std::uint64_t offset) {
    return wait_until_confirmed_at(call, offset);
}

/// The answer to a command that takes away access to predictions: sent once it is confirmed, with the names
/// of the nodes that have not confirmed. Errors: those of the command.
template <schemas::commands::withdrawing_command Command>
calls::response withdraw(calls::writing_call& call, Command command) {
    const auto told = co_await call.submit(std::move(command));
    if (!told) co_return told.error();
    co_await wait_until_confirmed<Command>(call, told->offset);
    const auto now = call.with().registry.read_now(storage::node::freshness::applied);
    if (!now) co_return storage::node::outcome_unknown(call.has_key());
    schemas::answers::withdrawn answer;
    answer.unconfirmed = unconfirmed_at(call.of<services>(), *now->view, told->offset);
    co_return call.answer(*told, answer);
}

}  // namespace herald::api::deployment
