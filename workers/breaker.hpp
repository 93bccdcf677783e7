// The circuit breaker of one webhook (delivery.md §4): stops attempts at a receiver that only fails. Pure.
#pragma once

#include <array>
#include <cstdint>

namespace herald::workers {

/// While closed, every attempt may start. After 10 failures in a row, or half of at least 20 results within a
/// minute, it opens: nothing may start for 30 s, then one probe at a time. The probe's success closes it; its
/// failure opens it again for twice as long, up to an hour. A value; times are steady milliseconds and never
/// go back.
class breaker {
  public:
    enum class admission : std::uint8_t { refused, ordinary, probe };

    /// How an attempt would be admitted now.
    admission would_admit(std::int64_t now_ms) const noexcept;
    /// An attempt starts, admitted as would_admit() says. A probe must end in one of the three calls below.
    admission admit(std::int64_t now_ms) noexcept;
    void succeeded(admission, std::int64_t now_ms) noexcept;
    void failed(admission, std::int64_t now_ms) noexcept;
    /// The attempt ended without telling anything about the receiver (cancelled, or the receiver asked for a
    /// pause).
    void abandoned(admission) noexcept;

    bool is_open() const noexcept { return x_is_open; }
    /// How long until the next probe may start; 0 while closed, and when one may start or is running.
    std::int64_t closed_to_all_ms(std::int64_t now_ms) const noexcept;

  private:
    struct results {
        std::int64_t period = -1;
        std::uint32_t succeeded = 0;
        std::uint32_t failed = 0;
    };
    results& results_at(std::int64_t now_ms) noexcept;
    bool mostly_failing(std::int64_t now_ms) const noexcept;
    void open(std::int64_t now_ms) noexcept;

    std::array<results, 6> x_results{};  // of the last minute, ten seconds each
    std::uint32_t x_failures_in_row = 0;
    bool x_is_open = false;
    bool x_is_probing = false;
    std::int64_t x_opened_ms = 0;
    std::int64_t x_open_for_ms = 0;
};

}  // namespace herald::workers
