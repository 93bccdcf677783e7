// A build on this node: its model, once it is loaded. Shared by the route tables that have it and by the
// requests that use it; the last one to let go of it unloads it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "api/serving/engines/engine.hpp"
#include "runtime/mutex.hpp"
#include "schemas/endpoints.hpp"
#include "schemas/ids.hpp"

namespace herald::api::serving {

/// What makes two components the same model in memory: the build and how its requests are batched.
struct component_key {
    schemas::build_id build;
    schemas::batching_settings batching;

    friend bool operator==(const component_key&, const component_key&) = default;
    friend bool operator<(const component_key& left, const component_key& right) noexcept {
        if (left.build != right.build) return left.build < right.build;
        if (left.batching.size_max != right.batching.size_max)
            return left.batching.size_max < right.batching.size_max;
        return left.batching.delay_ms_max < right.batching.delay_ms_max;
    }
};

/// Thread-safe.
class component {
  public:
    /// Takes a model that nobody asks any more, on any thread: unloading may take a while.
    using unloader = std::function<void(engines::loaded_model)>;

    component(component_key of, unloader unload) : x_key(of), x_unload(std::move(unload)) {}
    ~component() {
        x_loading->cancel();
        if (x_is_loaded && x_unload) x_unload(std::move(x_model));
    }
    component(const component&) = delete;
    component& operator=(const component&) = delete;

    const component_key& key() const noexcept { return x_key; }
    /// Null until it is loaded; then it stays, as long as this component does.
    const engines::loaded_model* model() const noexcept {
        return x_is_loaded.load(std::memory_order_acquire) ? &x_model : nullptr;
    }

    /// Why the newest attempt to load it failed; empty when none has.
    std::string why_not_loaded() const {
        const runtime::lock_guard lock(x_mutex);
        return x_why_not;
    }

    // For the loader:
    /// Once. `memory`: what it may take, kept as long as this.
    void set_model(engines::loaded_model model, std::shared_ptr<const void> memory) noexcept {
        x_model = std::move(model);
        x_memory = std::move(memory);
        x_is_loaded.store(true, std::memory_order_release);
    }
    /// It cannot be loaded here, as far as can be told now.
    void set_failure(std::string why) {
        set_trouble(std::move(why));
        x_has_failed.store(true, std::memory_order_release);
    }
    /// Another try may help.
    void set_trouble(std::string why) {
        const runtime::lock_guard lock(x_mutex);
        x_why_not = std::move(why);
    }
    /// Cancelled with this component, or before, when its load is not to go on.
    const std::shared_ptr<engines::cancellation>& loading() const noexcept { return x_loading; }
    bool has_failed() const noexcept { return x_has_failed.load(std::memory_order_acquire); }

  private:
    const component_key x_key;
    const unloader x_unload;
    const std::shared_ptr<engines::cancellation> x_loading = std::make_shared<engines::cancellation>();
    std::atomic<bool> x_is_loaded = false;
    std::atomic<bool> x_has_failed = false;
    engines::loaded_model x_model;  // written before x_is_loaded, as its memory
    std::shared_ptr<const void> x_memory;
    mutable runtime::mutex x_mutex;
    std::string x_why_not GUARDED_BY(x_mutex);
};

}  // namespace herald::api::serving
