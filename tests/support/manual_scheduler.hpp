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

    /// Runs what is ready and due, without advancing time.
    void settle() {
        while (true) {
            if (!x_ready.empty()) {
                const task work = std::move(x_ready.front());
                x_ready.pop_front();
                work();
            } else if (!x_timers.empty() && x_timers.begin()->first <= x_clock.steady_ms()) {
                const task work = std::move(x_timers.begin()->second);
                x_timers.erase(x_timers.begin());
                work();
            } else {
                return;
            }
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
    runtime::manual_clock x_clock;
    std::deque<task> x_ready;
    std::multimap<std::int64_t, task> x_timers;
};

}  // namespace herald::test
