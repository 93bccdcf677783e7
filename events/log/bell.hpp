// How a log tells a reader or member that a poll may find something.
#pragma once

#include <chrono>
#include <functional>

#include "runtime/mutex.hpp"

namespace herald::events::log {

/// Calls its owner, a reader or member, at most once between two polls. Shared with everything that rings it,
/// and may outlive the owner. Thread-safe, except for the functions marked "Owner", which belong to the
/// owner's thread.
class bell {
  public:
    /// Owner. Sets the function to call, and calls it.
    void call(std::function<void()> notify);
    /// Owner. Once it returns, nothing is called or still running, unless silence() was called from inside
    /// that call.
    void silence();
    void ring();
    /// Owner. The poll left something behind.
    void ring_again();
    /// Owner. A poll begins: any ring from now on is new.
    void reset();
    /// Owner. Waits for a ring or the deadline.
    void wait_until(std::chrono::steady_clock::time_point deadline);

  private:
    bool is_first_ring();

    runtime::recursive_mutex
        x_calling;                   // held while another thread runs x_notify, which may destroy the owner
    std::function<void()> x_notify;  // changed only by the owner's thread
    runtime::mutex x_mutex;
    runtime::condition_variable x_changed;
    bool x_is_rung GUARDED_BY(x_mutex) = false;
};

}  // namespace herald::events::log
