// How a log tells a reader or member that a poll may find something.
#pragma once

#include <chrono>
#include <functional>

#include "runtime/mutex.hpp"

namespace herald::events::log {

/// Calls its owner, a reader or member, at most once between two polls. Shared with whoever rings, and may
/// outlive the owner. Thread-safe where nothing else is said; "the owner" means on the owner's thread.
class bell {
  public:
    /// The owner. Sets whom to call, and calls.
    void call(std::function<void()> notify);
    /// The owner. After it nobody is called, nor being called unless this is the call.
    void silence();
    void ring();
    /// The owner: the poll left something.
    void ring_again();
    /// The owner. A poll begins: whatever rings from now on is new.
    void reset();
    /// The owner. Until it rings, or the deadline.
    void wait_until(std::chrono::steady_clock::time_point deadline);

  private:
    bool is_first_ring();

    runtime::recursive_mutex
        x_calling;                   // held while another thread runs x_notify, which may destroy the owner
    std::function<void()> x_notify;  // changed by the owner's thread only
    runtime::mutex x_mutex;
    runtime::condition_variable x_changed;
    bool x_is_rung GUARDED_BY(x_mutex) = false;
};

}  // namespace herald::events::log
