#include "api/serving/model_fetcher.hpp"

#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "storage/registry/find/artifacts.hpp"
#include "storage/registry/tables/builds.hpp"

namespace herald::api::serving {
namespace {

/// A model's file and what keeps it there, together.
struct kept_model {
    std::shared_ptr<const model_cache::held_model> held;
    std::filesystem::path file;
};

}  // namespace

void model_fetcher::fetch(const component_source& source,
                          std::function<void(result<fetched_model>)> handler) {
    x_tasks.start("fetch_model", run(this, source, std::move(handler)));
}

void model_fetcher::end() {
    x_is_ending = true;
    x_tasks.stop();
}

boost::asio::awaitable<void> model_fetcher::run(model_fetcher* self, component_source source,
                                                std::function<void(result<fetched_model>)> handler) {
    // The load that asks holds its place among the loads until it is called back.
    std::optional<result<fetched_model>> found;
    try {
        auto fetched = co_await self->fetched(std::move(source));
        found.emplace(std::move(fetched));
    } catch (const std::exception& thrown) {
        if (self->x_is_ending) throw;  // it was cancelled; the model is not the cause
        found.emplace(runtime::unavailable({"fetching it has failed: ", thrown.what()}));
    }
    handler(*std::move(found));
}

storage::artifacts::task<fetched_model> model_fetcher::fetched(component_source source) {
    const auto find = [&] { return parts_of(source.key.build); };
    auto wanted = co_await runtime::run_blocking(x_with.disk, find);
    if (!wanted) co_return wanted.error();
    std::uint64_t bytes = 0;
    for (const auto& each : *wanted) bytes += each.bytes;
    auto memory = x_with.memory->take(bytes);
    if (!memory) co_return memory.error();
    auto held = co_await x_with.models.get(*std::move(wanted));
    if (!held) co_return held.error();
    const auto kept = std::make_shared<kept_model>();
    kept->held = *std::move(held);
    kept->file = kept->held->file();
    fetched_model out;
    out.file = std::shared_ptr<const std::filesystem::path>(kept, &kept->file);
    out.memory = *std::move(memory);
    co_return out;
}

/// Errors: not_found; invalid_argument when there is nothing to load.
result<std::vector<storage::artifacts::stored_object>> model_fetcher::parts_of(schemas::build_id id) const {
    const auto view = x_with.state.view();
    const auto build = storage::registry::tables::builds::find(*view, id);
    if (!build) return runtime::not_found({"build ", id.value, " is gone"});
    auto blobs = storage::registry::find::model_of_build(*view, *build);
    if (!blobs) return blobs.error();
    std::vector<storage::artifacts::stored_object> out;
    for (schemas::blob& each : *blobs)
        out.push_back({std::move(each.object), std::move(each.digest), each.bytes});
    return out;
}

}  // namespace herald::api::serving
