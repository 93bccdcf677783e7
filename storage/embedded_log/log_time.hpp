// The time that the embedded log gives to records (design.md §1 "Time"). Internal to the embedded log. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/clock.hpp"
#include "runtime/error.hpp"
#include "storage/embedded_log/embedded_log.hpp"

namespace herald::storage::embedded_log {

/// Begins at the wall clock, or at the newest record if that is later, and advances with the steady clock:
/// while the process runs, no jump of the wall clock moves it, and it never goes back. A value; as
/// thread-safe as the clock, which must outlive it.
class log_time {
  public:
    /// `newest_ms`: time of the newest record; empty for an empty log. Errors: failed_precondition when the
    /// wall clock is more than 30 days ahead of it and that is not accepted.
    static result<log_time> begin(const runtime::clock&, std::optional<std::int64_t> newest_ms, clock_leap);

    std::int64_t now_ms() const noexcept { return x_ahead_of_steady_ms + x_clock->steady_ms(); }
    /// How far the wall clock is ahead; negative when it is behind.
    std::int64_t wall_ahead_ms() const noexcept { return x_clock->wall_ms() - now_ms(); }
    /// Either the log was idle for very long or the wall clock is wrong: nothing should expire for a day.
    bool has_leapt() const noexcept { return x_has_leapt; }

  private:
    log_time(const runtime::clock& clock, std::int64_t now_ms, bool has_leapt)
        : x_clock(&clock), x_ahead_of_steady_ms(now_ms - clock.steady_ms()), x_has_leapt(has_leapt) {}

    const runtime::clock* x_clock;
    std::int64_t x_ahead_of_steady_ms;
    bool x_has_leapt;
};

}  // namespace herald::storage::embedded_log
