// Starts coroutines and waits for their end.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <cstdint>
#include <functional>
#include <list>
#include <vector>

#include "runtime/event_loop.hpp"

namespace herald::runtime {

/// The tasks of one owner on one loop. Nothing else calls co_spawn for work that nobody awaits, so no task
/// outlives its owner. A task that throws is logged (event `task_failed`) and ends; a cancelled one just
/// ends. Callable on any thread; the tasks run on the loop's. The owner joins it before destroying it, while
/// the loop still runs.
class task_group {
  public:
    explicit task_group(event_loop& loop) : x_loop(loop) {}
    ~task_group();
    task_group(const task_group&) = delete;
    task_group& operator=(const task_group&) = delete;

    /// Starts `work`, named `name` in the log (a literal). After cancel() it is dropped before it begins.
    /// `work` must be a call of a coroutine that owns its parameters, never of a lambda that captures.
    void start(const char* name, boost::asio::awaitable<void> work);
    /// Asks every task to stop: the operation it awaits fails with operation_aborted, and so do later ones.
    void cancel();
    /// Waits until no task is left; false when that takes longer than `ms`. Not on the loop's thread.
    bool join(std::int64_t ms);
    /// cancel(), then join() without limit.
    void stop();

    event_loop& loop() const noexcept { return x_loop; }

  private:
    void begin(const char* name, boost::asio::awaitable<void> work);
    void ended(std::list<boost::asio::cancellation_signal>::iterator which);

    event_loop& x_loop;
    // Used only on the loop's thread:
    std::list<boost::asio::cancellation_signal> x_tasks;
    std::vector<std::function<void()>> x_waiting;  // called when the last task has ended
    bool x_cancelled = false;
};

}  // namespace herald::runtime
