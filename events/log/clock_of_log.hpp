// The machine's clock, put right by the log.
#pragma once

#include "events/log/log.hpp"
#include "runtime/clock.hpp"

namespace herald::events::log {

/// The wall clock is the log's time if the log has one (partitioned_log::time_ms), so that a jump of the
/// machine's clock changes no comparison, not even with an earlier start. Thread-safe.
class clock_of_log final : public runtime::clock {
  public:
    /// Both must outlive it.
    clock_of_log(const partitioned_log& log, const runtime::clock& machine)
        : x_log(log), x_machine(machine) {}

    std::int64_t wall_ms() const noexcept override { return x_log.time_ms().value_or(x_machine.wall_ms()); }
    std::int64_t steady_ms() const noexcept override { return x_machine.steady_ms(); }

  private:
    const partitioned_log& x_log;
    const runtime::clock& x_machine;
};

}  // namespace herald::events::log
