#include "api/serving/copy_sweeper.hpp"

#include "runtime/lifetime.hpp"
#include "storage/registry/tables/builds.hpp"

namespace herald::api::serving {
namespace {

using storage::registry::tables::builds;

/// What the copy of the build's model is called; empty for a build that has no model here.
std::string copy_of(const schemas::build& build) {
    if (build.model_parts.empty()) return {};
    std::vector<storage::artifacts::stored_object> parts;
    for (const schemas::blob_part& each : build.model_parts) parts.push_back({{}, each.digest, each.bytes});
    return model_cache::name_of(parts);
}

}  // namespace

void copy_sweeper::begin() {
    x_with.loop.post(runtime::if_alive(weak_from_this(), [](copy_sweeper& self) { self.look_later(); }));
}

void copy_sweeper::look_later() {
    x_with.loop.run_at(x_with.loop.time().steady_ms() + x_times.interval_ms,
                       runtime::if_alive(weak_from_this(), [](copy_sweeper& self) {
                           self.x_tasks.start("sweep_copies", look(self.shared_from_this()));
                       }));
}

boost::asio::awaitable<void> copy_sweeper::look(std::shared_ptr<copy_sweeper> self) {
    try {
        const std::int64_t now_ms = self->x_with.loop.time().steady_ms();
        const bool is_search_due =
            !self->x_searched_ms || now_ms - *self->x_searched_ms >= self->x_times.search_interval_ms;
        const auto work = [&] { return self->sweep(is_search_due); };
        const auto swept = co_await run_blocking(self->x_with.disk, work);
        if (swept && is_search_due) self->x_searched_ms = now_ms;
    } catch (...) {
        self->look_later();
        throw;
    }
    self->look_later();
}

/// On the blocking pool. Errors: unavailable while it is not known what is served.
result<void> copy_sweeper::sweep(bool is_search_due) {
    const bool is_low = x_with.models.is_disk_low();
    if (!is_search_due && !is_low) return {};
    const auto served = x_with.served();
    if (!served) return runtime::unavailable("the log is still being read");
    if (is_search_due) drop_those_of_no_build();
    if (is_low) x_with.models.make_disk_room(names_of(*served));
    return {};
}

/// Reads builds until each copy has one: as a rule not all of them.
void copy_sweeper::drop_those_of_no_build() {
    auto left = x_with.models.unheld();  // before the state: whatever is copied has its build there
    if (left.empty()) return;
    builds::each(*x_with.state.view(), [&](const schemas::build& each) {
        left.erase(copy_of(each));
        return !left.empty();
    });
    x_with.models.drop(left);
}

std::set<std::string> copy_sweeper::names_of(const std::set<schemas::build_id>& wanted) const {
    std::set<std::string> names;
    const auto view = x_with.state.view();
    for (const schemas::build_id id : wanted)
        if (const auto build = builds::find(*view, id)) names.insert(copy_of(*build));
    return names;
}

}  // namespace herald::api::serving
