// Runs the deciding code that waits (publisher, worker, jobs): one thread, one queue, one clock.
#pragma once

#include <cstdint>
#include <functional>

#include "runtime/clock.hpp"

namespace herald::runtime {

/// Runs tasks one after another on one thread. The real one is an event loop; the simulation's is a virtual
/// clock that picks among ready tasks by seed. Code driven by a scheduler never blocks and takes no lock.
class scheduler {
  public:
    using task = std::function<void()>;
    virtual ~scheduler() = default;
    /// Runs `work` soon. Any thread may call it.
    virtual void post(task work) = 0;
    /// Runs `work` no earlier than steady time `at_ms`. Cannot be cancelled: the task must check whether it
    /// is still wanted (by an epoch or a weak_ptr). Only from the scheduler's own thread.
    virtual void run_at(std::int64_t at_ms, task work) = 0;
    virtual const clock& time() const noexcept = 0;
};

}  // namespace herald::runtime
