#include "storage/embedded_log/log_time.hpp"

#include <algorithm>

#include "runtime/text.hpp"
#include "storage/embedded_log/limits.hpp"

namespace herald::storage::embedded_log {

result<log_time> log_time::begin(const runtime::clock& clock, std::optional<std::int64_t> newest_ms,
                                 clock_leap leap) {
    const std::int64_t wall_ms = clock.wall_ms();
    const std::int64_t leap_ms = wall_ms - newest_ms.value_or(wall_ms);
    if (leap_ms > limits::log_clock_leap_ms_max && leap == clock_leap::refused)
        return runtime::failed_precondition(
            {"the newest record of the log is of ", runtime::iso8601_ms(*newest_ms),
             ", and this machine's clock says ", runtime::iso8601_ms(wall_ms),
             ": more than 30 days later. If the clock is right, start once with --accept-clock; a wrong time "
             "would stay in everything that is written from now on"});
    return log_time(clock, std::max(wall_ms, newest_ms.value_or(wall_ms)),
                    leap_ms > limits::log_clock_leap_held_ms);
}

}  // namespace herald::storage::embedded_log
