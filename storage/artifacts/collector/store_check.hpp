// Whether a store of artifacts is this log's: two logs must not share one, and a folder whose disk is missing
// must not be taken for it.
#pragma once

#include <cstdint>
#include <functional>

#include "runtime/task_group.hpp"
#include "storage/artifacts/store.hpp"
#include "storage/node/node.hpp"

namespace herald::storage::artifacts::collector {

/// Lives on the loop's thread, but for its constructor and end().
class store_check {
  public:
    /// All of them must outlive it.
    struct parts {
        artifact_store& artifacts;
        const registry::state::state_store& state;
        runtime::event_loop& loop;
    };
    store_check(const parts& with, store_taking taking)
        : x_with(with), x_taking(taking), x_tasks(with.loop) {}

    enum class applied : std::uint8_t { some, all };
    /// Calls back on the loop. With only a part of the log applied it finds what is wrong already. With all
    /// of it, a store without an owner becomes this log's, if that is allowed. Errors: as judge_store;
    /// unavailable or internal when the store does not say whose it is.
    void run(applied, std::function<void(result<void>)> done);
    /// After a run with all that succeeded. Errors: as check_still; unavailable or internal when the store
    /// does not say whose it is.
    void run_again(std::function<void(result<void>)> done);
    /// Not on the loop's thread; while the loop runs.
    void end() { x_tasks.stop(); }

  private:
    static boost::asio::awaitable<void> check_and_tell(store_check* self, applied,
                                                       std::function<void(result<void>)> done);
    static boost::asio::awaitable<void> check_again_and_tell(store_check* self,
                                                             std::function<void(result<void>)> done);
    task<> check(applied);
    /// What to do with the store as it is now.
    task<owner_step> next_step(const store_owner& mine, bool is_needed);

    const parts x_with;
    const store_taking x_taking;
    runtime::task_group x_tasks;
};

}  // namespace herald::storage::artifacts::collector
