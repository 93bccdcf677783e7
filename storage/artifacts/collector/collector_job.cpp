#include "storage/artifacts/collector/collector_job.hpp"

#include <utility>

#include "runtime/lifetime.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "schemas/binary.hpp"
#include "schemas/commands/artifacts.hpp"
#include "storage/registry/tables/artifacts.hpp"
#include "storage/registry/tables/installation.hpp"

namespace herald::storage::artifacts::collector {

using registry::tables::blobs;
using registry::tables::doomed_objects;
using runtime::run_blocking;

void collector_job::start(std::uint64_t token) {
    x_token = token;
    look_later();
}

void collector_job::look_later() {
    if (std::exchange(x_is_planned, true)) return;
    x_with.loop.run_at(x_with.loop.time().steady_ms() + x_times.interval_ms,
                       runtime::if_alive(weak_from_this(), [](collector_job& self) {
                           self.x_is_planned = false;
                           self.look();
                       }));
}

void collector_job::look() {
    if (x_token == 0) return;
    look_later();
    if (!std::exchange(x_is_collecting, true))
        x_tasks.start("collect_artifacts", collect(shared_from_this()));
}

boost::asio::awaitable<void> collector_job::collect(std::shared_ptr<collector_job> self) {
    try {
        const auto may = co_await self->may_collect();
        if (!may)
            runtime::log(runtime::log_level::warning, runtime::log_events::artifacts_not_listed,
                         {{"reason", may.error().message}});
        if (may && *may) {
            co_await self->erase_doomed();
            co_await self->find_strays();
        }
    } catch (...) {
        self->x_is_collecting = false;
        throw;
    }
    self->x_is_collecting = false;
}

/// Errors: those of the store, when it does not say whose it is.
task<bool> collector_job::may_collect() {
    const auto view = x_with.state.view();
    const auto progress = registry::tables::restoring::find(*view);
    const auto log = registry::tables::installation::find(*view);
    if (!log || (progress && progress->is_paused)) co_return false;
    const auto owner = co_await x_with.artifacts.owner();
    if (!owner) co_return owner.error();
    const store_owner mine{runtime::uuid_text(log->log_id), log->generation};
    co_return *owner == mine;
}

/// The next of the marked objects: those that cannot be erased do not keep the others from their turn.
std::vector<std::string> collector_job::doomed() {
    std::vector<std::string> objects;
    doomed_objects::each(*x_with.state.view(), [&](const std::string& object) {
        if (object > x_tried) objects.push_back(object);
        return objects.size() < limits::listed_objects_max;
    });
    x_tried = objects.size() < limits::listed_objects_max ? std::string() : objects.back();
    return objects;
}

boost::asio::awaitable<void> collector_job::erase_doomed() {
    const auto look = [this]() -> result<std::vector<std::string>> { return doomed(); };
    const auto objects = co_await run_blocking(x_with.reads, look);
    if (!objects) co_return;
    schemas::commands::forget_erased_objects erased;
    for (const std::string& object : *objects) {
        if (x_token == 0)
            co_return;  // another node may have the claim: it erases the rest, and says what is gone
        // A name of another form was never stored here.
        if (digest_of(object)) {
            const auto gone = co_await x_with.artifacts.erase(object);
            if (!gone) {
                runtime::log(runtime::log_level::warning, runtime::log_events::artifact_not_erased,
                             {{"object", object}, {"reason", gone.error().message}});
                continue;
            }
        }
        erased.objects.push_back(object);
    }
    if (!erased.objects.empty()) tell(std::move(erased));
}

std::vector<schemas::blob> collector_job::strays_of(const std::vector<listed_object>& listed) const {
    const auto view = x_with.state.view();
    const std::int64_t now_ms = x_with.loop.time().wall_ms();
    std::vector<schemas::blob> strays;
    for (const listed_object& each : listed) {
        if (each.stored_ms + x_times.stray_kept_ms > now_ms) continue;
        const auto row = blobs::find(*view, each.digest);
        if ((row && row->object == each.object) || doomed_objects::has(*view, each.object)) continue;
        schemas::blob stray;
        stray.digest = each.digest;
        stray.object = each.object;
        strays.push_back(std::move(stray));
    }
    return strays;
}

boost::asio::awaitable<void> collector_job::find_strays() {
    const std::int64_t now_ms = x_with.loop.time().steady_ms();
    if (now_ms - x_searched_ms < x_times.search_interval_ms) co_return;
    x_searched_ms = now_ms;
    std::string after;
    while (x_token != 0) {
        const auto listed = co_await x_with.artifacts.list(after);
        if (!listed) {
            runtime::log(runtime::log_level::warning, runtime::log_events::artifacts_not_listed,
                         {{"reason", listed.error().message}});
            co_return;
        }
        if (listed->empty()) co_return;
        after = listed->back().object;
        const auto look = [&]() -> result<std::vector<schemas::blob>> { return strays_of(*listed); };
        auto found = co_await run_blocking(x_with.reads, look);
        if (!found) co_return;
        schemas::commands::find_stray_objects strays;
        strays.found = *std::move(found);
        if (!strays.found.empty()) tell(std::move(strays));
    }
}

/// If the log does not take it, it is sent again: the state still has it.
template <class Command>
void collector_job::tell(Command command) {
    command.token = x_token;
    x_with.registry.submit(Command::type, schemas::encode(command), {}, x_with.random.uuid(),
                           [](const auto&) {});
}

}  // namespace herald::storage::artifacts::collector
