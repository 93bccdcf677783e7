#include "tests/simulation/virtual_time.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "tests/simulation/world.hpp"

namespace herald::test {
namespace {

constexpr std::size_t tasks_at_once_max = 200'000;
constexpr std::int64_t quota_period_ms = 100;  // as the kernel's

}  // namespace

std::int64_t process_clock::wall_ms() const noexcept {
    return virtual_time::wall_start_ms + x_time.now_ms() + x_ahead_ms;
}
std::int64_t process_clock::steady_ms() const noexcept { return x_time.now_ms(); }

void process_thread::post(task work) {
    if (x_alive) x_tasks.push_back(std::move(work));
}

void process_thread::put_first(task work) {
    if (x_alive) x_tasks.push_front(std::move(work));
}

void process_thread::run_at(std::int64_t at_ms, task work) {
    if (x_alive) x_timers.emplace(at_ms, std::move(work));
}

void process_thread::throttle(std::int64_t task_us, double share) {
    x_task_us = task_us;
    x_slice_us = static_cast<std::int64_t>(share * quota_period_ms * 1'000);
}

void process_thread::pay(std::int64_t now_ms) {
    if (x_task_us == 0) return;
    const std::int64_t period = now_ms / quota_period_ms;
    if (std::exchange(x_period, period) != period) x_used_us = 0;
    x_used_us += x_task_us;
    if (x_used_us < x_slice_us) return;
    x_paused_until_ms = std::max(x_paused_until_ms, (period + 1) * quota_period_ms);
    x_held_up_ms += x_paused_until_ms - now_ms;
}

void process_thread::die() {
    x_alive = false;
    // Destroying a task may post another one, which must find an empty, dead thread.
    const auto tasks = std::exchange(x_tasks, {});
    const auto timers = std::exchange(x_timers, {});
}

bool process_thread::ready(std::int64_t now_ms) const {
    return x_alive && x_paused_until_ms <= now_ms && !x_tasks.empty();
}

void process_thread::collect_due(std::int64_t now_ms) {
    if (x_paused_until_ms > now_ms) return;
    while (!x_timers.empty() && x_timers.begin()->first <= now_ms) {
        x_tasks.push_back(std::move(x_timers.begin()->second));
        x_timers.erase(x_timers.begin());
    }
}

std::int64_t process_thread::next_ms() const {
    if (!x_alive) return std::numeric_limits<std::int64_t>::max();
    const std::int64_t due = !x_tasks.empty()    ? 0
                             : !x_timers.empty() ? x_timers.begin()->first
                                                 : std::numeric_limits<std::int64_t>::max();
    return std::max(due, x_paused_until_ms);
}

process_thread& virtual_time::start_thread() {
    x_alive.push_back(std::make_unique<process_thread>(*this));
    return *x_alive.back();
}

void virtual_time::run_until(std::int64_t until_ms) {
    while (true) {
        if (run_one()) {
            if (++x_tasks_at_once > tasks_at_once_max)
                throw rule_broken{"the processes keep each other busy without end (invariant 12)"};
            continue;
        }
        x_tasks_at_once = 0;
        std::int64_t next = until_ms;
        for (const auto& thread : x_alive) next = std::min(next, thread->next_ms());
        if (x_now_ms >= until_ms) return;
        x_now_ms = std::max(x_now_ms, next);
    }
}

bool virtual_time::run_one() {
    for (auto thread = x_alive.begin(); thread != x_alive.end();) {
        if ((*thread)->x_alive) {
            (*thread)->collect_due(x_now_ms);
            ++thread;
        } else {
            x_dead.push_back(std::move(*thread));
            thread = x_alive.erase(thread);
        }
    }
    std::vector<process_thread*> ready;
    for (const auto& thread : x_alive)
        if (thread->ready(x_now_ms)) ready.push_back(thread.get());
    if (ready.empty()) return false;
    process_thread& chosen = *ready[x_random.below(ready.size())];
    const runtime::scheduler::task work = std::move(chosen.x_tasks.front());
    chosen.x_tasks.pop_front();
    work();
    chosen.pay(x_now_ms);
    return true;
}

}  // namespace herald::test
