// Long work on a thread of its own, one piece at a time.
#pragma once

#include <stop_token>
#include <thread>
#include <utility>

#include "runtime/error.hpp"
#include "runtime/mutex.hpp"

namespace herald::runtime {

/// Thread-safe. The destructor, and end(), ask the work to stop, and wait until it has.
class background_task {
  public:
    ~background_task() { end(); }
    background_task() = default;
    background_task(const background_task&) = delete;
    background_task& operator=(const background_task&) = delete;

    /// `work(std::stop_token)` runs on another thread, after `first()` on this one; an exception of either
    /// ends the process. Errors: already_exists while the one before runs; aborted after end();
    /// resource_exhausted when there is no thread for it.
    template <class Work, class First>
    result<void> begin(Work work, First first) {
        const lock_guard lock(x_mutex);
        if (x_has_ended) return aborted("this node is ending");
        if (x_is_running) return already_exists("the one before is not finished");
        first();
        try {
            // The thread before has nothing left to do.
            x_thread = std::jthread([this, work = std::move(work)](const std::stop_token& stop) mutable {
                work(stop);
                const lock_guard done(x_mutex);
                x_is_running = false;
            });
        } catch (const std::system_error&) {
            return resource_exhausted("no thread can be started now; try again");
        }
        x_is_running = true;
        return {};
    }
    template <class Work>
    result<void> begin(Work work) {
        return begin(std::move(work), [] {});
    }
    bool is_running() const {
        const lock_guard lock(x_mutex);
        return x_is_running;
    }
    /// Nothing runs when this returns, nor is begun later. Not from the work itself.
    void end() {
        const std::jthread ending = take();  // its destructor asks it to stop, and waits
    }

  private:
    std::jthread take() {
        const lock_guard lock(x_mutex);
        x_has_ended = true;
        return std::move(x_thread);
    }

    mutable mutex x_mutex;
    bool x_is_running GUARDED_BY(x_mutex) = false;
    bool x_has_ended GUARDED_BY(x_mutex) = false;
    std::jthread x_thread GUARDED_BY(x_mutex);
};

}  // namespace herald::runtime
