#include "workers/intake.hpp"

#include <algorithm>
#include <utility>

#include "workers/limits.hpp"

namespace herald::workers {

namespace {

constexpr std::int64_t second_ms = 1'000;

}  // namespace

void intake::attempted(std::int64_t now_ms) noexcept {
    ++x_attempted;
    const std::int64_t passed_ms = now_ms - x_second_ms;
    if (passed_ms < second_ms) return;
    x_rate = std::exchange(x_attempted, 0) * second_ms / static_cast<std::size_t>(passed_ms);
    x_second_ms = now_ms;
}

void intake::look(const lanes& all, bool is_late, loop_time now) {
    if (!is_late) {
        x_is_full = false;
        x_waiting_max = SIZE_MAX / 2;
        return;
    }
    const bool is_new = x_waiting_max == SIZE_MAX / 2;
    if (!is_new && x_accepted < limits::late_worker_looks_every &&
        now.ms - x_looked_ms < limits::late_probe_ms)
        return;
    x_accepted = 0;
    x_looked_ms = now.ms;
    x_waiting = all.waiting_for_worker(now);
    x_waiting_max = std::max<std::size_t>(limits::late_worker_deliveries_min,
                                          x_rate * limits::late_worker_work_ms / second_ms);
    x_is_full = x_waiting >= (x_is_full ? x_waiting_max / 2 : x_waiting_max);
}

}  // namespace herald::workers
