// How late a worker's loop is: it was throttled, shares its core, or has too much to do (delivery.md §4,
// "Pace": a worker that is late itself judges nobody).
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "runtime/lifetime.hpp"
#include "runtime/metrics.hpp"
#include "runtime/scheduler.hpp"

namespace herald::workers {

/// Plans a timer every 10 ms and sees how late each one runs. Rests while its owner has nothing to do: a
/// worker without deliveries is never late. Lives on the scheduler's thread; the scheduler must outlive it.
class loop_lateness {
  public:
    loop_lateness(runtime::scheduler& its, std::function<bool()> has_work)
        : x_scheduler(its), x_has_work(std::move(has_work)) {}

    /// To be called when there is work; watches until there is none.
    void watch();
    /// For how long, in all, the loop was late while it was watched. A timer that runs less than 25 ms late
    /// counts as on time; one that is overdue counts already.
    std::int64_t total_ms() const;
    /// Whether the loop was late within the last second.
    bool is_late() const;

  private:
    void look();
    /// 0 when it is on time.
    std::int64_t late_now_ms() const;

    runtime::scheduler& x_scheduler;
    std::function<bool()> x_has_work;
    runtime::histogram& x_shown = runtime::metric_histogram(runtime::metrics::loop_late);
    bool x_is_watching = false;
    std::int64_t x_due_ms = 0;  // steady, of the planned timer
    std::int64_t x_total_ms = 0;
    std::int64_t x_late_until_ms = 0;  // steady
    runtime::lifetime x_lifetime;
};

}  // namespace herald::workers
