#include "program/predictions.hpp"

#include <future>
#include <optional>
#include <utility>

#include "api/serving/batching/batching_engine.hpp"
#include "api/serving/builder/model_inspection.hpp"
#include "api/serving/engines/upstream_engine.hpp"
#include "api/serving/limits.hpp"
#include "api/serving/model_cache/marked_engine.hpp"
#include "program/limits.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "storage/registry/find/artifacts.hpp"
#include "storage/registry/tables/builds.hpp"

namespace herald::program {
namespace {

using api::serving::component_source;
using api::serving::fetched_model;
namespace builder = api::serving::builder;
namespace engines = api::serving::engines;
namespace model_cache = api::serving::model_cache;
namespace tables = storage::registry::tables;

api::serving::route_maker::options route_options(const settings& chosen) {
    return {chosen.server.header_prefixes, limits::prediction_body_bytes_default,
            limits::prediction_deadline_ms_default, limits::predictions_in_flight_default};
}

runtime::http::client::client_options upstream_options(const settings& chosen) {
    runtime::http::client::client_options options = chosen.transport;
    options.http = runtime::http::client::plain_http::allowed;
    options.policy =
        chosen.predictions.upstream_policy.value_or(options.policy).named("--allow-upstream-addresses");
    return options;
}

std::vector<runtime::event_loop*> all_of(runtime::event_loops& loops) {
    std::vector<runtime::event_loop*> out;
    for (std::size_t index = 0; index < loops.size(); ++index) out.push_back(&loops[index]);
    return out;
}

/// A model's file and what it may take, together.
struct kept_model {
    std::shared_ptr<const model_cache::held_model> held;
    std::filesystem::path file;
};

/// It is in memory for as long as it is looked at.
result<schemas::model_signature> inspected(model_cache::memory_budget& budget,
                                           engines::onnx::onnx_engine& onnx,
                                           const std::filesystem::path& file) {
    std::error_code unknown;
    const std::uint64_t bytes = std::filesystem::file_size(file, unknown);
    if (unknown)
        return runtime::unavailable("the model's copy on this node's disk cannot be read; try again");
    auto memory = budget.take(bytes);
    if (!memory) return memory.error();
    return onnx.inspect(file);
}

}  // namespace

predictions::predictions(const settings& chosen, const parts& with)
    : x_chosen(chosen),
      x_with(with),
      x_disk(limits::model_threads, limits::model_calls_waiting_max),
      x_loads(limits::model_threads, limits::model_calls_waiting_max),
      x_memory(std::make_shared<model_cache::memory_budget>(chosen.predictions.models_memory_bytes != 0
                                                                ? chosen.predictions.models_memory_bytes
                                                                : model_cache::half_of_memory())),
      x_serving({with.jobs, x_loads, runtime::system_random(), with.log_clock, with.serving.size()},
                route_options(chosen), chosen.predictions.logged_each),
      x_fetches(with.jobs),
      x_looks(limits::build_looks_max, limits::build_looks_max) {}

result<std::unique_ptr<predictions>> predictions::make(const settings& chosen,
                                                       const std::filesystem::path& folder,
                                                       const parts& with) {
    auto made = std::make_unique<predictions>(chosen, with);
    if (const auto opened = made->open(folder); !opened) return opened.error();
    return made;
}

result<void> predictions::open(const std::filesystem::path& folder) {
    model_cache::model_cache::bounds copies;
    copies.disk_free_bytes_min = x_chosen.free_disk_bytes_min;
    auto models = model_cache::model_cache::open(folder, {x_with.artifacts, x_disk}, copies);
    if (!models) return models.error();
    x_models = *std::move(models);
    x_engines.push_back(engines::make_upstream_engine(all_of(x_with.serving), upstream_options(x_chosen)));
    x_build_marks = folder.parent_path() / "builds";
    x_load_marks = std::make_shared<model_cache::load_marks>(folder.parent_path() / "loads");
    auto onnx = engines::onnx::make_onnx_engine(
        {x_chosen.predictions.onnxruntime, api::serving::builder::inspect_model_file});
    if (!onnx) {
        runtime::log(runtime::log_level::info, runtime::log_events::runtime_missing,
                     {{"runtime", "onnx"}, {"reason", onnx.error().message}});
        x_missing_engines.emplace("onnx", onnx.error().message);
        return {};
    }
    x_onnx = *std::move(onnx);
    x_engines.push_back(
        model_cache::make_marked_engine(api::serving::batching::make_batching_engine(x_onnx), x_load_marks));
    return {};
}

/// Only where models can be looked at.
void predictions::add_builder(storage::node::registry_node& registry) {
    if (!x_onnx) return;
    builder::builder_job::settings set;
    set.model_bytes_max = x_chosen.predictions.model_bytes_max;
    set.base_url = x_chosen.public_url;
    set.marks = x_build_marks;
    const auto waiting = [](const storage::registry::state::state_view& view) {
        std::vector<schemas::build> builds;
        tables::builds::each_unfinished(view, [&](schemas::build_id id) {
            if (auto build = tables::builds::find(view, id)) builds.push_back(*std::move(build));
            return builds.size() < limits::builds_looked_at_max;
        });
        return builds;
    };
    // Nothing of this object: a model that hangs may outlive it.
    const auto load = [memory = x_memory, onnx = x_onnx](const std::filesystem::path& file) {
        return inspected(*memory, *onnx, file);
    };
    x_builder = std::make_shared<builder::builder_job>(
        builder::builder_job::parts{registry, x_with.state, x_with.artifacts, *x_models, x_with.jobs,
                                    runtime::system_random(), x_disk, x_looks, waiting, load},
        std::move(set));
    registry.add_job(schemas::job::builder, x_builder);
}

void predictions::describe(storage::node::registry_node::options& node) {
    node.serves_predictions = x_chosen.predictions.are_served;
    for (const auto& each : x_engines) node.runtimes.emplace_back(each->name());
    node.quiesce = quiescing();
    if (x_chosen.predictions.are_served)
        node.about_to_show = [this](const storage::node::shown_write& what) { x_serving.shown(what); };
}

std::function<void(std::function<void()>)> predictions::quiescing() {
    if (!x_chosen.predictions.are_served) return {};
    return [this](std::function<void()> done) {
        const auto left = std::make_shared<std::atomic<std::size_t>>(x_with.serving.size());
        for (std::size_t index = 0; index < x_with.serving.size(); ++index)
            x_with.serving[index].post([this, index, left, done] {
                // A loop that nobody asks would keep what its routes were: models, and metrics of endpoints
                // that are gone.
                if (!x_is_ending) x_serving.book().on_loop(index);
                if (--*left == 0) done();
            });
    };
}

void predictions::let_off() {
    x_load_marks->let_off();
    if (x_builder) x_builder->let_off();
}

void predictions::drain(storage::node::registry_node& node, std::function<void()> done) {
    const auto quiesce = quiescing();
    if (!quiesce) return node.drain(std::move(done));
    x_serving.gate().close(quiesce, node, std::move(done));
}

void predictions::pass_quiescent_point() {
    const auto quiesce = quiescing();
    if (!quiesce) return;
    std::promise<void> passed;
    quiesce([&] { passed.set_value(); });
    passed.get_future().wait();
}

void predictions::begin(storage::node::registry_node& registry) {
    add_builder(registry);
    const auto fetching = [this](const component_source& source, auto handler) {
        x_fetches.start("fetch_model", fetch(this, source, std::move(handler)));
    };
    x_serving.begin(registry, {x_engines, fetching, x_missing_engines});
}

std::optional<runtime::trouble> predictions::trouble() const {
    if (!x_chosen.predictions.are_served) return std::nullopt;
    return x_serving.trouble();
}

void predictions::end() {
    let_off();
    if (x_builder) x_builder->end();
    x_is_ending = true;
    x_fetches.stop();
    pass_quiescent_point();  // no loop looks at its routes any more
    x_serving.end();
}

boost::asio::awaitable<void> predictions::fetch(predictions* self, component_source source,
                                                std::function<void(result<fetched_model>)> handler) {
    // Whoever asks holds a place among the loads until it is called back.
    std::optional<result<fetched_model>> found;
    try {
        auto fetched = co_await self->fetched(std::move(source));
        found.emplace(std::move(fetched));
    } catch (const std::exception& thrown) {
        if (self->x_is_ending) throw;  // it was cancelled, which is no fault of the model
        found.emplace(runtime::unavailable(std::string("fetching it has failed: ") + thrown.what()));
    }
    handler(*std::move(found));
}

storage::artifacts::task<fetched_model> predictions::fetched(component_source source) {
    const auto find = [&] { return parts_of(source.key.build); };
    auto wanted = co_await runtime::run_blocking(x_disk, find);
    if (!wanted) co_return wanted.error();
    std::uint64_t bytes = 0;
    for (const auto& each : *wanted) bytes += each.bytes;
    auto memory = x_memory->take(bytes);
    if (!memory) co_return memory.error();
    auto held = co_await x_models->get(*std::move(wanted));
    if (!held) co_return held.error();
    const auto kept = std::make_shared<kept_model>();
    kept->held = *std::move(held);
    kept->file = kept->held->file();
    fetched_model out;
    out.file = std::shared_ptr<const std::filesystem::path>(kept, &kept->file);
    out.memory = *std::move(memory);
    co_return out;
}

/// Errors: invalid_argument when there is nothing to load.
result<std::vector<storage::artifacts::stored_object>> predictions::parts_of(schemas::build_id id) const {
    const auto view = x_with.state.view();
    const auto build = tables::builds::find(*view, id);
    if (!build) return runtime::not_found("build " + std::to_string(id.value) + " is gone");
    auto blobs = storage::registry::find::model_of_build(*view, *build);
    if (!blobs) return blobs.error();
    std::vector<storage::artifacts::stored_object> out;
    for (schemas::blob& each : *blobs)
        out.push_back({std::move(each.object), std::move(each.digest), each.bytes});
    return out;
}

}  // namespace herald::program
