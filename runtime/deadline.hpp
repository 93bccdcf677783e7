// Deadlines on an event loop.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "runtime/event_loop.hpp"

namespace herald::runtime {

/// Calls `expired` on the loop's thread once its time has passed; then it is inactive until set again.
/// Postponing it costs only a store: the loop checks again at the old time. Belongs to one loop and its
/// thread; `expired` may destroy it.
class deadline {
  public:
    deadline(event_loop& loop, std::function<void()> expired) : x_loop(loop), x_expired(std::move(expired)) {}
    ~deadline();
    deadline(const deadline&) = delete;
    deadline& operator=(const deadline&) = delete;

    /// In the loop's steady time (scheduler::time()); replaces the previous time.
    void set(std::int64_t at_ms);
    /// `ms` from now.
    void set_after(std::int64_t ms) { set(x_loop.time().steady_ms() + ms); }
    void clear() noexcept { x_at_ms.reset(); }

  private:
    friend class event_loop;
    void due(std::int64_t now_ms);

    event_loop& x_loop;
    std::function<void()> x_expired;
    std::optional<std::int64_t> x_at_ms;
    std::optional<std::int64_t> x_queued_ms;  // its time in the loop's queue
};

}  // namespace herald::runtime
