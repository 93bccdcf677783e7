// Time comes in through constructors, so that tests and the simulation can control it.
#pragma once

#include <atomic>
#include <cstdint>

namespace herald::runtime {

/// Thread-safe. Two clocks in one: the wall clock, which may jump, and a steady one that only goes forward.
class clock {
  public:
    virtual ~clock() = default;
    /// Milliseconds since the Unix epoch.
    virtual std::int64_t wall_ms() const noexcept = 0;
    /// Milliseconds since some fixed moment; keeps running while the machine sleeps (CLOCK_BOOTTIME).
    virtual std::int64_t steady_ms() const noexcept = 0;
};

/// The machine's clocks; one for the process, never destroyed.
clock& system_clock() noexcept;

/// Stands still until moved. Thread-safe.
class manual_clock final : public clock {
  public:
    explicit manual_clock(std::int64_t wall_ms = 1'700'000'000'000) : x_wall_ms(wall_ms) {}
    std::int64_t wall_ms() const noexcept override { return x_wall_ms; }
    std::int64_t steady_ms() const noexcept override { return x_steady_ms; }
    /// Moves both clocks forward.
    void advance_ms(std::int64_t by) {
        x_wall_ms += by;
        x_steady_ms += by;
    }
    /// Moves only the wall clock; `by` may be negative.
    void jump_wall_ms(std::int64_t by) { x_wall_ms += by; }

  private:
    std::atomic<std::int64_t> x_wall_ms;
    std::atomic<std::int64_t> x_steady_ms{1};
};

}  // namespace herald::runtime
