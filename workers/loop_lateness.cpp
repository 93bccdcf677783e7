#include "workers/loop_lateness.hpp"

#include "workers/limits.hpp"

namespace herald::workers {

void loop_lateness::watch() {
    if (std::exchange(x_is_watching, true)) return;
    x_due_ms = x_scheduler.time().steady_ms() + limits::late_probe_ms;
    x_scheduler.run_at(x_due_ms, x_lifetime.guard([this] { look(); }));
}

void loop_lateness::look() {
    const std::int64_t now_ms = x_scheduler.time().steady_ms();
    x_shown.observe_us((now_ms - x_due_ms) * 1'000);
    if (const std::int64_t late_ms = late_now_ms(); late_ms > 0) {
        x_total_ms += late_ms;
        x_late_until_ms = now_ms + limits::late_remembered_ms;
    }
    x_is_watching = false;
    if (x_has_work()) watch();
}

std::int64_t loop_lateness::late_now_ms() const {
    const std::int64_t late_ms = x_scheduler.time().steady_ms() - x_due_ms;
    return x_is_watching && late_ms >= limits::late_ms_min ? late_ms : 0;
}

std::int64_t loop_lateness::total_ms() const { return x_total_ms + late_now_ms(); }

bool loop_lateness::is_late() const {
    return late_now_ms() > 0 || x_scheduler.time().steady_ms() < x_late_until_ms;
}

}  // namespace herald::workers
