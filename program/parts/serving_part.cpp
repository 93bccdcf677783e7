#include "program/parts/serving_part.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "api/serving/batching/batching_engine.hpp"
#include "api/serving/builder/budgeted_loader.hpp"
#include "api/serving/builder/model_inspection.hpp"
#include "api/serving/engines/onnx/limits.hpp"
#include "api/serving/engines/upstream_engine.hpp"
#include "api/serving/limits.hpp"
#include "api/serving/model_cache/marked_engine.hpp"
#include "program/options/limits.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "runtime/own_memory.hpp"
#include "storage/registry/find/builds.hpp"

namespace herald::program {
namespace {

using api::serving::component_source;
using api::serving::model_fetcher;
namespace builder = api::serving::builder;
namespace engines = api::serving::engines;
namespace model_cache = api::serving::model_cache;

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

std::uint64_t run_bytes_max(const settings& chosen) {
    if (chosen.predictions.run_bytes_max != 0) return chosen.predictions.run_bytes_max;
    return std::max(runtime::own_memory_bytes() / 8, limits::onnx_run_bytes_default_min);
}

std::vector<runtime::event_loop*> all_of(runtime::event_loops& loops) {
    std::vector<runtime::event_loop*> out;
    for (std::size_t index = 0; index < loops.size(); ++index) out.push_back(&loops[index]);
    return out;
}

}  // namespace

serving_part::serving_part(const settings& chosen, const parts& with)
    : x_chosen(chosen),
      x_with(with),
      x_disk(limits::model_threads, limits::model_calls_waiting_max),
      x_loads(limits::model_threads, limits::model_calls_waiting_max),
      x_memory(std::make_shared<model_cache::memory_budget>(chosen.predictions.models_memory_bytes != 0
                                                                ? chosen.predictions.models_memory_bytes
                                                                : runtime::own_memory_bytes() / 2)),
      x_serving({with.jobs, x_loads, runtime::system_random(), with.log_clock, with.serving},
                route_options(chosen), chosen.predictions.logged_each),
      x_looks(limits::build_looks_max, limits::build_looks_max) {}

result<std::unique_ptr<serving_part>> serving_part::make(const settings& chosen,
                                                         const std::filesystem::path& folder,
                                                         const parts& with) {
    auto made = std::make_unique<serving_part>(chosen, with);
    if (const auto opened = made->open(folder); !opened) return opened.error();
    return made;
}

result<void> serving_part::open(const std::filesystem::path& folder) {
    model_cache::model_cache::bounds copies;
    copies.disk_free_bytes_min = x_chosen.free_disk_bytes_min;
    auto models = model_cache::model_cache::open(folder, {x_with.artifacts, x_disk}, copies);
    if (!models) return models.error();
    x_models = *std::move(models);
    x_fetcher = std::make_unique<model_fetcher>(
        model_fetcher::parts{x_with.state, *x_models, x_memory, x_with.jobs, x_disk});
    x_engines.push_back(engines::make_upstream_engine(all_of(x_with.serving), upstream_options(x_chosen)));
    x_build_marks = folder.parent_path() / "builds";
    x_load_marks = std::make_shared<model_cache::load_marks>(folder.parent_path() / "loads");
    auto onnx = engines::onnx::make_onnx_engine({x_chosen.predictions.onnxruntime,
                                                 api::serving::builder::inspect_model_file,
                                                 run_bytes_max(x_chosen), x_memory->pool()});
    if (!onnx) {
        runtime::log(runtime::log_level::info, runtime::log_events::runtime_missing,
                     {{"runtime", schemas::runtimes::onnx}, {"reason", onnx.error().message}});
        x_missing_engines.emplace(schemas::runtimes::onnx, onnx.error().message);
        return {};
    }
    x_onnx = *std::move(onnx);
    x_engines.push_back(
        model_cache::make_marked_engine(api::serving::batching::make_batching_engine(x_onnx), x_load_marks));
    return {};
}

/// Only where models can be looked at.
void serving_part::add_builder(storage::node::registry_node& registry) {
    if (!x_onnx) return;
    builder::builder_job::settings set;
    set.model_bytes_max = x_chosen.predictions.model_bytes_max;
    set.base_url = x_chosen.public_url;
    set.marks = x_build_marks;
    const auto waiting = [](const storage::registry::state::state_view& view) {
        return storage::registry::find::unfinished_builds(view, limits::builds_looked_at_max);
    };
    // Nothing of this object: a model that hangs may outlive it.
    const auto inspect = [onnx = x_onnx](const std::filesystem::path& file) { return onnx->inspect(file); };
    x_builder = std::make_shared<builder::builder_job>(
        builder::builder_job::parts{registry, x_with.state, x_with.artifacts, *x_models, x_with.jobs,
                                    runtime::system_random(), x_disk, x_looks, waiting,
                                    builder::budgeted(x_memory, inspect)},
        std::move(set));
    registry.add_job(schemas::job::builder, x_builder);
}

/// A node that serves no predictions has copies, too: of the models that it made builds of.
void serving_part::add_sweeper(storage::node::registry_node& registry) {
    using api::serving::copy_sweeper;
    copy_sweeper::served_builds served = [this] { return x_serving.served_builds(); };
    if (!x_chosen.predictions.are_served)
        served = [&registry]() -> std::optional<std::set<schemas::build_id>> {
            if (!registry.ready()) return std::nullopt;
            return std::set<schemas::build_id>();
        };
    x_sweeper = std::make_shared<copy_sweeper>(
        copy_sweeper::parts{x_with.state, *x_models, std::move(served), x_with.jobs, x_disk},
        copy_sweeper::times{});
    x_sweeper->begin();
}

void serving_part::describe(storage::node::registry_node::options& node) {
    node.serves_predictions = x_chosen.predictions.are_served;
    for (const auto& each : x_engines) node.runtimes.emplace_back(each->name());
    node.quiesce = quiescing();
    if (x_chosen.predictions.are_served)
        node.about_to_show = [this](const storage::node::shown_write& what) { x_serving.shown(what); };
}

std::function<void(std::function<void()>)> serving_part::quiescing() {
    if (!x_chosen.predictions.are_served) return {};
    return [this](std::function<void()> done) { x_serving.quiesce(std::move(done)); };
}

void serving_part::let_off() {
    x_load_marks->let_off();
    if (x_builder) x_builder->let_off();
}

void serving_part::drain(storage::node::registry_node& node, std::function<void()> done) {
    if (!x_chosen.predictions.are_served) return node.drain(std::move(done));
    x_serving.drain(node, std::move(done));
}

void serving_part::begin(storage::node::registry_node& registry) {
    add_builder(registry);
    const auto fetch = [this](const component_source& source, auto handler) {
        x_fetcher->fetch(source, std::move(handler));
    };
    x_serving.begin(registry, {x_engines, fetch, x_missing_engines});
    add_sweeper(registry);
}

std::optional<runtime::trouble> serving_part::trouble() const {
    if (!x_chosen.predictions.are_served) return std::nullopt;
    return x_serving.trouble();
}

void serving_part::end() {
    let_off();
    if (x_builder) x_builder->end();
    if (x_fetcher) x_fetcher->end();
    if (x_sweeper) x_sweeper->end();
    x_serving.end();
}

}  // namespace herald::program
