// Erases from the store of artifacts what the registry no longer has (design.md §5).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/random.hpp"
#include "runtime/task_group.hpp"
#include "schemas/artifacts.hpp"
#include "storage/artifacts/limits.hpp"
#include "storage/artifacts/store.hpp"
#include "storage/node/node.hpp"

namespace herald::storage::artifacts::collector {

/// Two things, while this node holds the claim. Every ten seconds it erases objects that the state marks for
/// erasure, and appends that they are gone, so that the marks go, too. Every six hours it looks for objects
/// that are older than two days and have no row, left by uploads whose node ended in between; it appends
/// them, and the rule marks those that truly have no row. So an object is erased only after the log has said
/// so, and one that was said to be doomed never holds bytes that count. It touches no store that another log
/// owns, and nothing while a restored installation is paused. Lives on the loop's thread, but for end().
class collector_job final : public node::claimed_job, public std::enable_shared_from_this<collector_job> {
  public:
    struct times {
        std::int64_t interval_ms = limits::collection_interval_ms;
        std::int64_t search_interval_ms = limits::stray_search_interval_ms;
        std::int64_t stray_kept_ms = limits::stray_object_kept_ms;
    };
    /// All of them must outlive it.
    struct parts {
        node::registry_node& registry;
        const registry::state::state_store& state;
        artifact_store& artifacts;
        runtime::event_loop& loop;
        runtime::random_source& random;
        runtime::blocking_pool& reads;  // of the state
    };
    collector_job(const parts& with, const times& when) : x_with(with), x_times(when), x_tasks(with.loop) {}

    void start(std::uint64_t token) override;
    void stop() override { x_token = 0; }
    /// Waits until nothing of it is left. Not on the loop's thread; while the loop runs.
    void end() { x_tasks.stop(); }

  private:
    void look_later();
    void look();
    static boost::asio::awaitable<void> collect(std::shared_ptr<collector_job> self);
    boost::asio::awaitable<void> erase_doomed();
    boost::asio::awaitable<void> find_strays();
    task<bool> may_collect();
    std::vector<std::string> doomed();
    std::vector<schemas::blob> strays_of(const std::vector<listed_object>&) const;
    template <class Command>
    void tell(Command command);

    const parts x_with;
    const times x_times;
    runtime::task_group x_tasks;
    std::uint64_t x_token = 0;
    bool x_is_planned = false;
    bool x_is_collecting = false;
    std::string x_tried;  // the last marked object that it tried to erase; the next turn goes on behind it
    std::int64_t x_searched_ms = INT64_MIN / 2;  // steady clock
};

}  // namespace herald::storage::artifacts::collector
