#include "api/deployment/confirmations.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "api/calls/await_callback.hpp"
#include "api/deployment/limits.hpp"
#include "runtime/lifetime.hpp"
#include "runtime/text.hpp"

namespace herald::api::deployment {
namespace {

/// Whether a node in contact has not confirmed yet.
bool is_awaited(const confirmation_sources& with, std::uint64_t offset) {
    const auto now = with.read_applied();
    if (!now) return false;
    const auto nodes = storage::registry::find::unconfirmed_nodes(*now->view, offset);
    return std::ranges::any_of(nodes, [](const auto& each) { return each.is_in_contact; });
}

/// What will wake it holds it. On the loop's thread.
class confirmation_wait : public std::enable_shared_from_this<confirmation_wait> {
  public:
    confirmation_wait(confirmation_sources with, std::uint64_t offset, std::function<void()> confirmed)
        : x_with(std::move(with)), x_offset(offset), x_confirmed(std::move(confirmed)) {}

    void begin() {
        const std::int64_t until_ms = x_with.loop.time().steady_ms() + limits::confirmation_ms_max;
        look();
        if (x_confirmed) x_with.loop.run_at(until_ms, [self = shared_from_this()] { self->end(); });
    }

  private:
    void look() {
        if (!x_confirmed) return;
        // First, so that a confirmation that comes meanwhile wakes it again.
        x_with.after_next_heartbeat(
            runtime::posted(x_with.loop, [self = shared_from_this()] { self->look(); }));
        if (!is_awaited(x_with, x_offset)) end();
    }
    void end() {
        if (const auto confirmed = std::exchange(x_confirmed, nullptr)) confirmed();
    }

    const confirmation_sources x_with;
    const std::uint64_t x_offset;
    std::function<void()> x_confirmed;  // empty once it was called
};

}  // namespace

std::vector<schemas::answers::unconfirmed_node> unconfirmed_at(
    const services& with, const storage::registry::state::state_view& state, std::uint64_t offset) {
    std::vector<schemas::answers::unconfirmed_node> out;
    if (!with.has_other_nodes) return out;
    for (auto& each : storage::registry::find::unconfirmed_nodes(state, offset))
        out.push_back({std::move(each.node), runtime::iso8601_ms(each.serves_until_ms)});
    return out;
}

void when_confirmed(const confirmation_sources& with, std::uint64_t offset, std::function<void()> confirmed) {
    const auto begin = [with, offset, confirmed = std::move(confirmed)] {
        if (!with.has_other_nodes) return confirmed();
        std::make_shared<confirmation_wait>(with, offset, confirmed)->begin();
    };
    if (!with.quiesce) return begin();
    with.quiesce(runtime::posted(with.loop, begin));
}

boost::asio::awaitable<void> wait_until_confirmed_at(calls::writing_call& call, std::uint64_t offset) {
    storage::node::registry_node& node = call.with().registry;
    const services& with = call.of<services>();
    const confirmation_sources asked{
        [&node] { return node.read_now(storage::node::freshness::applied); },
        [&node](std::function<void()> woken) { node.after_next_heartbeat(std::move(woken)); }, with.quiesce,
        call.limit().loop(), with.has_other_nodes};
    const auto start = [&](std::function<void(result<void>)> done) {
        when_confirmed(asked, offset, [done = std::move(done)] { done({}); });
    };
    co_await calls::await_callback<result<void>>(start);
}

}  // namespace herald::api::deployment
