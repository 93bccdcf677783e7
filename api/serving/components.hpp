// The models that this node has loaded or is loading: those of the components that the route table has.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/serving/component.hpp"
#include "runtime/event_loop.hpp"
#include "runtime/mutex.hpp"
#include "runtime/random.hpp"
#include "runtime/task_group.hpp"
#include "storage/node/node.hpp"

namespace herald::api::serving {

/// What a component's model is made from.
struct component_source {
    component_key key;
    std::string runtime;   // the engine's name
    bool has_file = true;  // false: nothing is fetched, as for an upstream
    std::string upstream_url;
    std::string health_path;
};

/// A model's bytes on this machine, and what it may take of the memory.
struct fetched_model {
    std::shared_ptr<const std::filesystem::path>
        file;                            // verified; stays there as long as somebody holds this
    std::shared_ptr<const void> memory;  // kept as long as the model is loaded
};
/// Finds or fetches a component's model. Called on the loop; calls back once on any thread. Errors:
/// unavailable when another try may help; others say what is wrong.
using fetch_model = std::function<void(const component_source&, std::function<void(result<fetched_model>)>)>;

/// Who loads what routes have. Any thread.
class component_holder {
  public:
    virtual ~component_holder() = default;
    /// The component with this key: the same for all who ask while somebody holds it.
    virtual std::shared_ptr<component> hold(const component_source&) = 0;
    /// The update is told whether this component is ready here, once that is known.
    virtual void tell_when_ready(schemas::update_id, const std::shared_ptr<component>&) = 0;
    /// The update has ended.
    virtual void forget(schemas::update_id) = 0;
};

/// A component is loaded as soon as somebody holds it and unloaded once nobody does. A failure is repeated,
/// more and more seldom, for as long as it is held. What an update waits for is told to the log until it is
/// applied: COMPONENT_READY. Lives on the loop's thread, but for hold() and end().
class components final : public component_holder, public std::enable_shared_from_this<components> {
  public:
    /// All of them must outlive it. Engines are asked on the pool `loads`, which unloads, too.
    struct parts {
        storage::node::registry_node& registry;
        runtime::event_loop& loop;
        runtime::blocking_pool& loads;
        runtime::random_source& random;
        std::vector<std::shared_ptr<engines::engine>> engines;
        fetch_model fetch;
        /// Why this node has no engine for a runtime, by the runtime's name.
        std::map<std::string, std::string, std::less<>> missing_engines{};
    };
    explicit components(parts);

    std::shared_ptr<component> hold(const component_source&) override;
    /// The place of a build that must not be loaded.
    static std::shared_ptr<component> without_model(schemas::build_id build) {
        return std::make_shared<component>(component_key{build, {}}, nullptr);
    }
    void tell_when_ready(schemas::update_id, const std::shared_ptr<component>&) override;
    void forget(schemas::update_id) override;
    /// Why the build's component is not loaded here, as far as it has been tried; empty: it is loaded, nobody
    /// holds it, or its first try is not over. Any thread.
    std::string why_not_loaded(const component_key&) const;
    /// The builds of the components that somebody holds, loaded or not. Any thread.
    std::set<schemas::build_id> held_builds() const;
    /// Waits until nothing of it is left. Not on the loop's thread; while the loop runs.
    void end();

  private:
    struct load {
        std::weak_ptr<component> into;
        component_source source;
        std::int64_t retry_ms = 0;
        std::int64_t began_ms = 0;
    };
    struct awaited_report {
        std::weak_ptr<component> about;
        bool is_sent = false;  // and not answered
    };

    void begin_next();
    void cancel_loads();
    void fetch(load);
    void fetched(load, result<fetched_model>);
    static boost::asio::awaitable<void> run(std::shared_ptr<components> self, load what, fetched_model bytes);
    void loaded(load, result<engines::loaded_model>, std::shared_ptr<const void> memory);
    void failed(load, const error&);
    void told_trouble(const load&, const std::string& why);
    void report(schemas::update_id);
    void reported(schemas::update_id, const result<schemas::commands::outcome>&);
    void report_all_of(const std::shared_ptr<component>&);
    void unload(engines::loaded_model);
    void let_go(engines::loaded_model);
    engines::engine* engine_for(const component_source&) const;
    std::int64_t now_ms() const { return x_with.loop.time().steady_ms(); }

    const parts x_with;
    runtime::task_group x_tasks;
    mutable runtime::mutex x_mutex;
    std::map<component_key, std::weak_ptr<component>> x_held GUARDED_BY(x_mutex);
    // On the loop:
    std::deque<load> x_waiting;  // at most one for each component that is held
    std::size_t x_loading = 0;
    std::map<schemas::update_id, awaited_report> x_reports;
    bool x_is_ending = false;
};

}  // namespace herald::api::serving
