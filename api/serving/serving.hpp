// All of serving on a node, put together: routes, models, what is counted of canaries.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>

#include "api/serving/canary_reports.hpp"
#include "api/serving/components.hpp"
#include "api/serving/first_loads.hpp"
#include "api/serving/prediction_log.hpp"
#include "api/serving/route_book.hpp"
#include "api/serving/route_maker.hpp"
#include "api/serving/serving_gate.hpp"

namespace herald::api::serving {

/// Owned by the composition. It is made before the node that tells it what is written (shown()) and begins
/// with begin(), before that node starts; end() comes before the loop of its parts stops.
class serving {
  public:
    /// All of them must outlive it.
    struct parts {
        runtime::event_loop& loop;      // of the node's jobs
        runtime::blocking_pool& loads;  // for loading models alone
        runtime::random_source& random;
        const runtime::clock& log_clock;      // its wall clock is the log's time
        runtime::event_loops& serving_loops;  // which answer predictions
    };
    serving(const parts&, route_maker::options, std::uint64_t logged_each);

    route_book& book() noexcept { return x_book; }
    serving_gate& gate() noexcept { return x_gate; }
    prediction_log& log() noexcept { return x_log; }
    /// For registry_node::options::about_to_show; on the applying thread.
    void shown(const storage::node::shown_write&);

    struct models {
        std::vector<std::shared_ptr<engines::engine>> engines;
        fetch_model fetch;
        std::map<std::string, std::string, std::less<>> missing_engines{};  // components::parts
    };
    /// Once, before the registry starts; it must outlive this.
    void begin(storage::node::registry_node& registry, models);
    /// Why this node does not say that it is ready for predictions; empty: it does. Any thread.
    std::optional<runtime::trouble> trouble() const;
    /// As components::why_not_loaded. Any thread, between begin() and end().
    std::string why_not_loaded(const component_key&) const;
    /// The builds whose models this node serves or is loading; empty until all of the log was read once. Any
    /// thread, between begin() and end().
    std::optional<std::set<schemas::build_id>> served_builds() const;
    /// As registry_node::options::quiesce: calls back, on any thread, once each serving loop has ended the
    /// step that it was in. While these loops run.
    void quiesce(std::function<void()> done);
    /// As registry_node::drain, once no prediction goes out any more (P7). While the serving loops run.
    void drain(storage::node::registry_node&, std::function<void()> done);
    /// Nothing is routed or loaded any more. Not on the thread of one of its loops; while they run, and after
    /// requests have ended.
    void end();

  private:
    void look_whether_ready();

    const parts x_with;
    std::atomic<bool> x_is_ending = false;
    const route_maker::options x_options;
    route_book x_book;
    serving_gate x_gate;
    prediction_log x_log;
    std::shared_ptr<components> x_models;
    first_loads x_first_loads;  // on the loop
    std::shared_ptr<canary_reports> x_canaries;
    std::unique_ptr<route_maker> x_maker;
    std::shared_ptr<char> x_alive = std::make_shared<char>();  // until end(); on the loop
};

}  // namespace herald::api::serving
