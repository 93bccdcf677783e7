#include "storage/artifacts/collector/store_check.hpp"

#include <utility>

#include "runtime/random.hpp"
#include "storage/registry/tables/artifacts.hpp"
#include "storage/registry/tables/installation.hpp"

namespace herald::storage::artifacts::collector {
namespace {

bool has_blobs(const registry::state::state_view& state) {
    bool found = false;
    registry::tables::blobs::each(state, [&](const schemas::blob&) {
        found = true;
        return false;
    });
    return found;
}

}  // namespace

void store_check::run(applied how_much, std::function<void(result<void>)> done) {
    x_tasks.start("check_artifacts", check_and_tell(this, how_much, std::move(done)));
}

void store_check::run_again(std::function<void(result<void>)> done) {
    x_tasks.start("check_artifacts_again", check_again_and_tell(this, std::move(done)));
}

boost::asio::awaitable<void> store_check::check_and_tell(store_check* self, applied how_much,
                                                         std::function<void(result<void>)> done) {
    auto checked = co_await self->check(how_much);
    done(std::move(checked));
}

boost::asio::awaitable<void> store_check::check_again_and_tell(store_check* self,
                                                               std::function<void(result<void>)> done) {
    const auto found = co_await self->x_with.artifacts.owner();
    if (!found) {
        done(found.error());
        co_return;
    }
    const auto log = registry::tables::installation::find(*self->x_with.state.view());
    done(check_still(*found, {runtime::uuid_text(log->log_id), log->generation}));
}

task<> store_check::check(applied how_much) {
    store_owner mine;
    bool is_needed = false;
    {
        const auto view = x_with.state.view();
        const auto log = registry::tables::installation::find(*view);
        if (!log) co_return result<void>();
        mine = {runtime::uuid_text(log->log_id), log->generation};
        is_needed = has_blobs(*view);
    }
    const auto step = co_await next_step(mine, is_needed);
    if (!step) co_return step.error();
    if (*step == owner_step::use || how_much == applied::some) co_return result<void>();
    const auto marked = co_await x_with.artifacts.set_owner(mine);
    if (!marked) co_return marked.error();
    const auto after = co_await next_step(mine, is_needed);
    if (!after) co_return after.error();
    co_return result<void>();
}

task<owner_step> store_check::next_step(const store_owner& mine, bool is_needed) {
    const auto found = co_await x_with.artifacts.owner();
    if (!found) co_return found.error();
    co_return judge_store(*found, mine, is_needed, x_taking);
}

}  // namespace herald::storage::artifacts::collector
