// Brings a component's model onto this machine: from its build in the state to a file and its place in
// memory.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "api/serving/components.hpp"
#include "api/serving/model_cache/memory_budget.hpp"
#include "api/serving/model_cache/model_cache.hpp"
#include "runtime/event_loop.hpp"
#include "runtime/task_group.hpp"
#include "storage/artifacts/store.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::api::serving {

/// Owned by the composition. Lives on the loop's thread, but for end().
class model_fetcher {
  public:
    /// All of them must outlive it.
    struct parts {
        const storage::registry::state::state_store& state;
        model_cache::model_cache& models;
        std::shared_ptr<model_cache::memory_budget> memory;
        runtime::event_loop& loop;
        runtime::blocking_pool& disk;
    };
    explicit model_fetcher(parts with) : x_with(std::move(with)), x_tasks(x_with.loop) {}

    /// As fetch_model, until end(). Errors: not_found for a build that is gone; those of model_of_build,
    /// memory_budget::take and model_cache::get.
    void fetch(const component_source&, std::function<void(result<fetched_model>)>);
    /// Ends what is under way. Not on the loop's thread; while the loop runs.
    void end();

  private:
    static boost::asio::awaitable<void> run(model_fetcher* self, component_source,
                                            std::function<void(result<fetched_model>)>);
    storage::artifacts::task<fetched_model> fetched(component_source);
    result<std::vector<storage::artifacts::stored_object>> parts_of(schemas::build_id) const;

    const parts x_with;
    std::atomic<bool> x_is_ending = false;
    runtime::task_group x_tasks;
};

}  // namespace herald::api::serving
