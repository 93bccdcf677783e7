// Tells those who work at an inference request that nobody waits for its response any more.
#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include "runtime/mutex.hpp"

namespace herald::api::serving::engines {

/// Owned by the caller; travels with the request. Thread-safe.
class cancellation {
  public:
    bool is_cancelled() const noexcept { return x_is_cancelled.load(std::memory_order_acquire); }

    /// For the caller: ends the work, if it has begun.
    void cancel() {
        const runtime::lock_guard lock(x_mutex);
        x_is_cancelled.store(true, std::memory_order_release);
        if (const auto end = std::exchange(x_end, nullptr)) end();
    }

    /// For an engine, before the work: `end` is called at most once, on the thread that cancels, and must not
    /// call back here. False, and it is not called, when it is too late to begin.
    bool work_begins(std::function<void()> end) {
        const runtime::lock_guard lock(x_mutex);
        if (x_is_cancelled) return false;
        x_end = std::move(end);
        return true;
    }
    /// After it; `end` is not called any more, nor under way.
    void work_has_ended() {
        const runtime::lock_guard lock(x_mutex);
        x_end = nullptr;
    }

  private:
    std::atomic<bool> x_is_cancelled = false;
    runtime::mutex x_mutex;
    std::function<void()> x_end GUARDED_BY(x_mutex);
};

}  // namespace herald::api::serving::engines
