// Whether the store of artifacts is this log's, for as long as a node runs.
#pragma once

#include <functional>

#include "storage/artifacts/collector/store_check.hpp"

namespace herald::storage::artifacts::collector {

/// Checks the store at the start, once all of the log is applied, and from then on again and again: another
/// log may take it. Lives on the loop of the parts, which stops before it is destroyed.
class store_watch {
  public:
    store_watch(const store_check::parts& with, store_taking taking)
        : x_loop(with.loop), x_check(with, taking) {}

    /// What this node has applied before may say already that the store is another log's. Not on the loop;
    /// waits. Errors: as store_check.
    result<void> check_first();
    /// On the loop, once. `is_caught_up`: whether all of the log is applied; asked until it is. `judged` is
    /// called with success when the store is found to be this log's, and with failed_precondition, once, when
    /// it is not or no longer. A store that does not answer is asked again.
    void begin(std::function<bool()> is_caught_up, std::function<void(const result<void>&)> judged);
    /// On the loop: `judged` is called no more.
    void leave() { x_judged = nullptr; }
    /// Not on the loop, after leave(), while the loop runs.
    void end() { x_check.end(); }

  private:
    void look();
    void look_again();
    /// Whether that ends the watch.
    bool is_refused(const result<void>&);
    void later(std::int64_t ms, void (store_watch::*what)());

    runtime::event_loop& x_loop;
    store_check x_check;
    std::function<bool()> x_is_caught_up;
    std::function<void(const result<void>&)> x_judged;  // empty: nobody waits any more
};

}  // namespace herald::storage::artifacts::collector
