// The time by the log's clock, whatever this machine's own clock says. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "runtime/clock.hpp"

namespace herald::workers {

/// Record times and everything derived from them (when a retry is due, until when a webhook is parked) are
/// the log's; a machine whose clock is an hour wrong must not judge them by its own. So the log's clock is
/// inferred from records that were read as soon as they were appended, and carried on by the steady clock: of
/// the newest three, the record read with the least delay counts, so that a step of the log's clock is
/// followed. Until the first such record the log's clock is the latest time that any record proves: being a
/// little late is better than acting on a wrong wall clock, or writing its time for others to believe. Before
/// any record nothing depends on it, and it is the wall clock. A value; one thread.
class log_clock {
  public:
    /// A record was read that had just been appended.
    void heard(std::int64_t record_time_ms, std::int64_t steady_ms) {
        x_ahead_of_steady_ms.push_back(record_time_ms - steady_ms);
        if (x_ahead_of_steady_ms.size() > heard_max) x_ahead_of_steady_ms.pop_front();
    }
    /// A record was read that may be old.
    void saw(std::int64_t record_time_ms, std::int64_t steady_ms) noexcept {
        const std::int64_t ahead_ms = record_time_ms - steady_ms;
        x_ahead_of_steady_ms_min = std::max(x_ahead_of_steady_ms_min.value_or(ahead_ms), ahead_ms);
    }
    /// True once a fresh record was read.
    bool is_known() const noexcept { return !x_ahead_of_steady_ms.empty(); }
    std::int64_t now_ms(const runtime::clock& own) const noexcept {
        if (is_known())
            return own.steady_ms() +
                   *std::max_element(x_ahead_of_steady_ms.begin(), x_ahead_of_steady_ms.end());
        return x_ahead_of_steady_ms_min ? own.steady_ms() + *x_ahead_of_steady_ms_min : own.wall_ms();
    }

  private:
    static constexpr std::size_t heard_max = 3;

    std::deque<std::int64_t> x_ahead_of_steady_ms;         // from fresh records
    std::optional<std::int64_t> x_ahead_of_steady_ms_min;  // from all records
};

}  // namespace herald::workers
