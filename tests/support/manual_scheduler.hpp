// A scheduler whose time is moved by hand.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>

#include "runtime/clock.hpp"
#include "runtime/scheduler.hpp"

namespace herald::test {

class manual_scheduler final : public runtime::scheduler {
  public:
    void post(task work) override { x_ready.push_back(std::move(work)); }
    void run_at(std::int64_t at_ms, task work) override { x_timers.emplace(at_ms, std::move(work)); }
    const runtime::clock& time() const noexcept override { return x_clock; }
    runtime::manual_clock& clock() noexcept { return x_clock; }

    /// From now on each task costs CPU time, and the thread gets `share` of each 100 ms, at their beginning:
    /// a container with a CPU quota. Time then advances while tasks run.
    void throttle(std::int64_t task_us, double share) {
        x_task_us = task_us;
        x_slice_us = static_cast<std::int64_t>(share * period_us);
    }
    /// The CPU time that tasks have cost.
    std::int64_t used_ms() const { return x_used_us / 1'000; }

    /// Runs what is ready and due, without advancing time unless tasks cost some.
    void settle() {
        while (true) {
            const bool due = !x_timers.empty() && x_timers.begin()->first <= x_clock.steady_ms();
            const bool takes_turns = x_task_us > 0 && due && x_timer_next;
            task work;
            if (!x_ready.empty() && !takes_turns) {
                work = std::move(x_ready.front());
                x_ready.pop_front();
            } else if (due) {
                work = std::move(x_timers.begin()->second);
                x_timers.erase(x_timers.begin());
            } else {
                return;
            }
            x_timer_next = !x_timer_next;
            work();
            pay();
        }
    }
    /// Lets `ms` pass, stopping at every timer.
    void run_for(std::int64_t ms) {
        const std::int64_t end_ms = x_clock.steady_ms() + ms;
        settle();
        while (!x_timers.empty() && x_timers.begin()->first <= end_ms) {
            x_clock.advance_ms(x_timers.begin()->first - x_clock.steady_ms());
            settle();
        }
        x_clock.advance_ms(end_ms - x_clock.steady_ms());
        settle();
    }
    /// Lets `ms` pass in leaps of 20 s: for waits of days, which would take long with a tick each second.
    void leap_for(std::int64_t ms) {
        constexpr std::int64_t leap_ms = 20'000;
        for (std::int64_t passed = 0; passed < ms; passed += leap_ms) {
            x_clock.advance_ms(leap_ms);
            settle();
        }
    }

  private:
    static constexpr std::int64_t period_us = 100'000;

    void pay() {
        if (x_task_us == 0) return;
        x_used_us += x_task_us;
        x_unpaid_us += x_task_us;
        const std::int64_t period = x_clock.steady_ms() * 1'000 / period_us;
        if (std::exchange(x_period, period) != period) x_slice_used_us = 0;
        x_slice_used_us += x_task_us;
        if (x_slice_used_us >= x_slice_us) {
            x_clock.advance_ms((period + 1) * period_us / 1'000 - x_clock.steady_ms());
            x_unpaid_us = 0;
        }
        x_clock.advance_ms(x_unpaid_us / 1'000);
        x_unpaid_us %= 1'000;
    }

    std::int64_t x_task_us = 0;
    std::int64_t x_slice_us = 0;
    std::int64_t x_used_us = 0;
    std::int64_t x_unpaid_us = 0;      // of time that has not advanced yet
    std::int64_t x_slice_used_us = 0;  // in this period
    std::int64_t x_period = -1;
    bool x_timer_next = false;
    runtime::manual_clock x_clock;
    std::deque<task> x_ready;
    std::multimap<std::int64_t, task> x_timers;
};

}  // namespace herald::test
