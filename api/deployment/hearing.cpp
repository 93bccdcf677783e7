#include "api/deployment/hearing.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "api/calls/await_callback.hpp"
#include "api/deployment/limits.hpp"
#include "runtime/lifetime.hpp"
#include "runtime/text.hpp"

namespace herald::api::deployment {
namespace {

/// Whether a node that is in contact has not said yet that it knows.
bool is_awaited(const hearing& with, std::uint64_t offset) {
    const auto now = with.read_applied();
    if (!now) return false;
    const auto nodes = storage::registry::find::unconfirmed_nodes(*now->view, offset);
    return std::ranges::any_of(nodes, [](const auto& each) { return each.is_in_contact; });
}

void look(const std::shared_ptr<const hearing>& with, std::uint64_t offset, std::int64_t until_ms,
          const std::function<void()>& heard) {
    const std::int64_t now_ms = with->loop.time().steady_ms();
    if (now_ms >= until_ms || !is_awaited(*with, offset)) return heard();
    with->loop.run_at(now_ms + limits::report_heard_look_ms,
                      [with, offset, until_ms, heard] { look(with, offset, until_ms, heard); });
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

void when_heard(const hearing& with, std::uint64_t offset, std::function<void()> heard) {
    const auto begin = [with = std::make_shared<const hearing>(with), offset, heard = std::move(heard)] {
        if (!with->has_other_nodes) return heard();
        look(with, offset, with->loop.time().steady_ms() + limits::report_heard_ms_max, heard);
    };
    if (!with.quiesce) return begin();
    with.quiesce(runtime::posted(with.loop, begin));
}

boost::asio::awaitable<void> wait_until_heard_at(calls::writing_call& call, std::uint64_t offset) {
    const calls::services& with = call.with();
    const hearing asked{[&with] { return with.registry.read_applied(); }, with.quiesce, call.limit().loop(),
                        with.has_other_nodes};
    const auto start = [&](std::function<void(result<void>)> done) {
        when_heard(asked, offset, [done = std::move(done)] { done({}); });
    };
    co_await calls::await_callback<result<void>>(start);
}

}  // namespace herald::api::deployment
