// One thread that simulates many: virtual time, and for each process a scheduler whose tasks run when the
// seed says.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/random.hpp"
#include "runtime/scheduler.hpp"

namespace herald::test {

class virtual_time;

/// A process's clocks: the steady one is the world's; the wall clock may jump.
class process_clock final : public runtime::clock {
  public:
    explicit process_clock(const virtual_time& time) : x_time(time) {}
    std::int64_t wall_ms() const noexcept override;
    std::int64_t steady_ms() const noexcept override;
    void jump_wall_ms(std::int64_t by) { x_ahead_ms += by; }

  private:
    const virtual_time& x_time;
    std::int64_t x_ahead_ms = 0;
};

/// The thread of one process from its start to its death. Tasks run in the order in which they were posted,
/// timers when they are due; the seed decides what other processes do between two of them. After its death it
/// runs nothing more, but continues to exist, since others may still post to it.
class process_thread final : public runtime::scheduler {
  public:
    explicit process_thread(const virtual_time& time) : x_clock(time) {}
    void post(task work) override;
    void run_at(std::int64_t at_ms, task work) override;
    const runtime::clock& time() const noexcept override { return x_clock; }

    process_clock& clock() { return x_clock; }
    /// The rest of the step that runs now: nothing comes between.
    void put_first(task work);
    /// Stands still, like a stopped process or a swapping machine.
    void pause_until(std::int64_t at_ms) { x_paused_until_ms = at_ms; }
    /// From now on each task costs CPU time, and the thread gets `share` of each 100 ms, at their beginning:
    /// a container with a CPU quota. What one may do in 100 ms, it does in no time.
    void throttle(std::int64_t task_us, double share);
    /// For how long, in all, its quota has held it up.
    std::int64_t held_up_ms() const { return x_held_up_ms; }
    void die();

  private:
    friend class virtual_time;
    bool ready(std::int64_t now_ms) const;
    void collect_due(std::int64_t now_ms);
    std::int64_t next_ms() const;  // INT64_MAX when it waits for nothing
    void pay(std::int64_t now_ms);

    process_clock x_clock;
    bool x_alive = true;
    std::int64_t x_paused_until_ms = 0;
    std::int64_t x_task_us = 0;
    std::int64_t x_slice_us = 0;
    std::int64_t x_used_us = 0;  // in this period
    std::int64_t x_period = 0;
    std::int64_t x_held_up_ms = 0;
    std::deque<task> x_tasks;
    std::multimap<std::int64_t, task> x_timers;
};

class virtual_time {
  public:
    /// 2023-11-14; every run starts there.
    static constexpr std::int64_t wall_start_ms = 1'700'000'000'000;

    explicit virtual_time(runtime::random_source& random) : x_random(random) {}
    std::int64_t now_ms() const noexcept { return x_now_ms; }
    process_thread& start_thread();
    /// All processes stand still for this long, as when their machines sleep.
    void leap(std::int64_t by_ms) { x_now_ms += by_ms; }
    /// Runs what is ready, in an order chosen by the seed, and lets time pass up to `until_ms`.
    void run_until(std::int64_t until_ms);

  private:
    bool run_one();

    runtime::random_source& x_random;
    std::int64_t x_now_ms = 1;
    std::size_t x_tasks_at_once = 0;  // since time last advanced
    std::vector<std::unique_ptr<process_thread>> x_alive;
    std::vector<std::unique_ptr<process_thread>> x_dead;
};

}  // namespace herald::test
