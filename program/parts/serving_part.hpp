// What serves predictions on an API node, assembled: engines, copies of models, serving.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "api/serving/builder/builder_job.hpp"
#include "api/serving/copy_sweeper.hpp"
#include "api/serving/engines/onnx/onnx_engine.hpp"
#include "api/serving/model_cache/load_marks.hpp"
#include "api/serving/model_cache/memory_budget.hpp"
#include "api/serving/model_cache/model_cache.hpp"
#include "api/serving/model_fetcher.hpp"
#include "api/serving/serving.hpp"
#include "program/options/settings.hpp"
#include "runtime/event_loop.hpp"
#include "storage/artifacts/store.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::program {

/// Created and destroyed by the main thread: destroyed after the loops of its parts have stopped and after
/// the node.
class serving_part {
  public:
    /// All of them must outlive it.
    struct parts {
        const storage::registry::state::state_store& state;
        storage::artifacts::artifact_store& artifacts;
        runtime::event_loops& serving;  // of HTTP
        runtime::event_loop& jobs;
        const runtime::clock& log_clock;
    };
    /// Errors: those of the folder of models.
    static result<std::unique_ptr<serving_part>> make(const settings&, const std::filesystem::path& folder,
                                                      const parts&);
    serving_part(const settings&, const parts&);
    serving_part(const serving_part&) = delete;
    serving_part& operator=(const serving_part&) = delete;

    api::serving::serving& serving() noexcept { return x_serving; }
    /// What the node needs to know of it, before it is made.
    void describe(storage::node::registry_node::options&);
    /// registry_node::options::quiesce; empty if this node serves no predictions.
    std::function<void(std::function<void()>)> quiescing();
    /// Before the node starts.
    void begin(storage::node::registry_node&);
    /// The process was told to end: from now on a model that is being loaded is not the cause of its end.
    void let_off();
    /// As registry_node::drain, once no prediction goes out any more (P7). While the serving loops run.
    void drain(storage::node::registry_node&, std::function<void()> done);
    /// Why this node says that it is not ready for predictions; none if it serves none.
    std::optional<runtime::trouble> trouble() const;
    /// After the last request, while the loops run.
    void end();

  private:
    result<void> open(const std::filesystem::path& folder);
    void add_builder(storage::node::registry_node&);
    void add_sweeper(storage::node::registry_node&);

    const settings& x_chosen;
    const parts x_with;
    runtime::blocking_pool x_disk;
    runtime::blocking_pool x_loads;
    std::vector<std::shared_ptr<api::serving::engines::engine>> x_engines;
    std::shared_ptr<api::serving::engines::onnx::onnx_engine> x_onnx;   // null: there is no library for it
    std::map<std::string, std::string, std::less<>> x_missing_engines;  // components::parts
    std::filesystem::path x_build_marks;
    std::shared_ptr<api::serving::model_cache::load_marks> x_load_marks;
    std::shared_ptr<api::serving::builder::builder_job> x_builder;
    std::unique_ptr<api::serving::model_cache::model_cache> x_models;
    const std::shared_ptr<api::serving::model_cache::memory_budget> x_memory;
    api::serving::serving x_serving;
    std::unique_ptr<api::serving::model_fetcher> x_fetcher;
    std::shared_ptr<api::serving::copy_sweeper> x_sweeper;
    runtime::blocking_pool x_looks;  // the builder's
};

}  // namespace herald::program
