// Lets the copies of models on this node's disk go that nobody needs: those of builds that are gone and, when
// the disk is low, those that no endpoint of this node serves.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>

#include "api/serving/limits.hpp"
#include "api/serving/model_cache/model_cache.hpp"
#include "runtime/event_loop.hpp"
#include "runtime/task_group.hpp"
#include "schemas/ids.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::api::serving {

/// Owned by the composition. Lives on the loop's thread, but for begin() and end(). Without it copies go only
/// when another one is to come; a low disk refuses the writes that would bring one, and would stay low.
class copy_sweeper final : public std::enable_shared_from_this<copy_sweeper> {
  public:
    /// The builds whose models this node serves or is loading; empty while that is not known. Any thread.
    using served_builds = std::function<std::optional<std::set<schemas::build_id>>()>;
    struct times {
        std::int64_t interval_ms = limits::copies_look_ms;
        std::int64_t search_interval_ms = limits::copies_search_ms;  // for builds that are gone
    };
    /// All of them must outlive it.
    struct parts {
        const storage::registry::state::state_store& state;
        model_cache::model_cache& models;
        served_builds served;
        runtime::event_loop& loop;
        runtime::blocking_pool& disk;
    };
    copy_sweeper(parts with, const times& when)
        : x_with(std::move(with)), x_times(when), x_tasks(x_with.loop) {}

    /// Once. Any thread.
    void begin();
    /// Waits until nothing of it is left. Not on the loop's thread; while the loop runs.
    void end() { x_tasks.stop(); }

  private:
    void look_later();
    static boost::asio::awaitable<void> look(std::shared_ptr<copy_sweeper> self);
    result<void> sweep(bool is_search_due);
    void drop_those_of_no_build();
    std::set<std::string> names_of(const std::set<schemas::build_id>&) const;

    const parts x_with;
    const times x_times;
    runtime::task_group x_tasks;
    std::optional<std::int64_t> x_searched_ms;  // steady clock
};

}  // namespace herald::api::serving
