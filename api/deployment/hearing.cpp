#include "api/deployment/hearing.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "api/calls/await_callback.hpp"
#include "api/deployment/limits.hpp"
#include "runtime/text.hpp"

namespace herald::api::deployment {
namespace {

/// Whether a node that is in contact has not said yet that it knows.
bool is_awaited(const calls::services& with, std::uint64_t offset) {
    const auto now = with.registry.read_applied();
    if (!now) return false;
    const auto nodes = storage::registry::find::unconfirmed_nodes(*now->view, offset);
    return std::ranges::any_of(nodes, [](const auto& each) { return each.is_in_contact; });
}

}  // namespace

std::vector<schemas::answers::unconfirmed_node> unconfirmed_at(
    const calls::services& with, const storage::registry::state::state_view& state, std::uint64_t offset) {
    std::vector<schemas::answers::unconfirmed_node> out;
    if (!with.has_other_nodes) return out;
    for (auto& each : storage::registry::find::unconfirmed_nodes(state, offset))
        out.push_back({std::move(each.node), runtime::iso8601_ms(each.serves_until_ms)});
    return out;
}

boost::asio::awaitable<void> wait_until_heard(calls::writing_call& call, std::uint64_t offset) {
    const calls::services& with = call.with();
    if (with.quiesce) {
        const auto start = [&](std::function<void(result<void>)> done) {
            with.quiesce([done] { done({}); });
        };
        co_await calls::await_callback<result<void>>(start);
    }
    if (!with.has_other_nodes) co_return;
    runtime::event_loop& loop = call.limit().loop();
    const std::int64_t until_ms = loop.time().steady_ms() + limits::report_heard_ms_max;
    while (loop.time().steady_ms() < until_ms && is_awaited(with, offset)) {
        const auto rest = [&](std::function<void(result<void>)> done) {
            loop.run_at(loop.time().steady_ms() + limits::report_heard_look_ms, [done] { done({}); });
        };
        co_await calls::await_callback<result<void>>(rest);
    }
}

}  // namespace herald::api::deployment
