// The program's threads: event loops with one thread each, and a bounded pool for blocking calls.
#pragma once

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/clock.hpp"
#include "runtime/completion.hpp"
#include "runtime/error.hpp"
#include "runtime/mutex.hpp"
#include "runtime/scheduler.hpp"

namespace herald::runtime {

class deadline;

/// One io_context and the thread that runs it. Owned by event_loops. All deadlines and delayed tasks of a
/// loop share one kernel timer. A task that throws ends the process: exceptions must be caught in task_group.
class event_loop final : public scheduler {
  public:
    explicit event_loop(std::size_t index, const clock& time);
    event_loop(const event_loop&) = delete;
    event_loop& operator=(const event_loop&) = delete;

    /// For sockets and other I/O objects of this loop.
    boost::asio::io_context& context() noexcept { return x_context; }
    /// Its index in event_loops, from 0.
    std::size_t index() const noexcept { return x_index; }
    /// True on the loop's own thread.
    bool is_current() noexcept { return x_context.get_executor().running_in_this_thread(); }

    void post(task work) override;
    /// A time less than 1 ms ahead may be met up to 1 ms late.
    void run_at(std::int64_t at_ms, task work) override;
    const clock& time() const noexcept override { return x_time; }

  private:
    friend class deadline;
    void add(std::int64_t at_ms, deadline&);
    void remove(std::int64_t at_ms, deadline&) noexcept;
    void arm(std::int64_t at_ms);
    void fire();

    const std::size_t x_index;
    const clock& x_time;
    boost::asio::io_context x_context{1};  // a hint: a single thread runs it
    boost::asio::steady_timer x_timer{x_context};
    std::set<std::pair<std::int64_t, deadline*>> x_deadlines;
    std::multimap<std::int64_t, task> x_tasks;
    std::optional<std::int64_t> x_armed_ms;  // when x_timer will call fire()
};

/// Threads that run io_contexts. Their owners keep it as the last member: whatever is thrown while they are
/// made, the contexts are stopped before the threads are joined.
class context_threads {
  public:
    context_threads() = default;
    ~context_threads() { stop(); }
    context_threads(const context_threads&) = delete;
    context_threads& operator=(const context_threads&) = delete;

    /// Starts a thread that runs the context, which must outlive it, until stop(). Throws std::system_error
    /// when it cannot be started.
    std::thread& start(boost::asio::io_context&, const std::string& name);
    /// Stops the contexts and joins the threads. May be called twice.
    void stop();

  private:
    std::vector<boost::asio::io_context*> x_contexts;
    std::vector<std::thread> x_threads;
};

/// Threads for blocking calls: database scans, closing Kafka, loading a model. The first is there from the
/// beginning, each other from when all before it are busy. Thread-safe.
class blocking_pool {
  public:
    /// At most `pending_max` calls wait or run at a time. Throws std::system_error when the first thread
    /// cannot be started.
    blocking_pool(std::size_t threads_max, std::size_t pending_max);
    blocking_pool(const blocking_pool&) = delete;
    blocking_pool& operator=(const blocking_pool&) = delete;

  private:
    template <class Result>
    friend class started_call;

    /// A place among the waiting or running calls.
    struct place {
        explicit place(blocking_pool& the_pool) : pool(the_pool) {}
        ~place() { --pool.x_pending; }
        place(const place&) = delete;
        place& operator=(const place&) = delete;
        blocking_pool& pool;
    };
    bool take_place() noexcept;
    void post(std::function<void()> call);
    void start_thread();

    const std::size_t x_threads_max;
    const std::size_t x_pending_max;
    std::atomic<std::size_t> x_pending{0};
    std::atomic<std::size_t> x_started{0};
    boost::asio::io_context x_calls;
    mutex x_starting;
    context_threads x_threads GUARDED_BY(x_starting);
};

/// A call on the pool that goes on while its owner does something else. Its work owns what it needs: the
/// owner may go without waiting. `Result` is a result<T>.
template <class Result>
class started_call : public std::enable_shared_from_this<started_call<Result>> {
  public:
    /// Errors: unavailable when the pool is full.
    template <class Work>
    static result<std::shared_ptr<started_call>> start(blocking_pool& pool, Work work) {
        if (!pool.take_place()) return unavailable("too many blocking calls wait; try again");
        const auto call = std::make_shared<started_call>();
        const auto owed = std::make_shared<owed_end>(call);
        // No co_spawn: it would queue the return behind all calls that wait for the pool.
        pool.post([owed, &pool, work = std::move(work)]() mutable {
            ended end;
            try {
                const typename blocking_pool::place mine(pool);
                end.out.emplace(work());
            } catch (...) {
                end.thrown = std::current_exception();
            }
            owed->pay(std::move(end));
        });
        return call;
    }

    /// The waiter gets deadline_exceeded at once. The work goes on, and its result is dropped.
    void give_up() {
        if (!x_end->claim()) return;
        x_is_given_up = true;
        ended end;
        end.out.emplace(error{error_code::deadline_exceeded, "the call was given up"});
        x_end->give_claimed(std::move(end));
    }
    bool is_given_up() const noexcept { return x_is_given_up; }
    /// Whether the work is done.
    bool has_ended() const noexcept { return x_has_ended; }

    /// Returns or throws what the work did. Call it once. A cancelled coroutine waits for the end, too: its
    /// signal would cross threads, and blocking work could not react to it. Errors: also those of give_up().
    boost::asio::awaitable<Result> wait() {
        const auto self = this->shared_from_this();
        co_await x_end->given();
        auto end = x_end->take();
        if (end.thrown) std::rethrow_exception(end.thrown);
        co_return *std::move(end.out);
    }

  private:
    struct ended {
        std::optional<Result> out;
        std::exception_ptr thrown;
    };
    /// A pool that stops before the work begins lets go of who waits.
    class owed_end {
      public:
        explicit owed_end(std::shared_ptr<started_call> call) : x_call(std::move(call)) {}
        owed_end(const owed_end&) = delete;
        owed_end& operator=(const owed_end&) = delete;
        ~owed_end() {
            if (x_call) x_call->x_end->abandon();
        }
        void pay(ended end) {
            const auto call = std::exchange(x_call, nullptr);
            call->x_has_ended = true;
            call->x_end->give(std::move(end));
        }

      private:
        std::shared_ptr<started_call> x_call;
    };

    const std::shared_ptr<completion<ended>> x_end = std::make_shared<completion<ended>>();
    std::atomic<bool> x_has_ended = false;
    std::atomic<bool> x_is_given_up = false;
};

/// Runs `work` on the pool and resumes where the caller was. Once begun it is not cancelled. `work` returns a
/// result<T>; what it returns or throws is passed on. Errors: those of `work`; unavailable when the pool is
/// full.
template <class Work>
boost::asio::awaitable<std::invoke_result_t<Work&>> run_blocking(blocking_pool& pool, Work work) {
    const auto kept = [&work] { return work(); };
    const auto begun = started_call<std::invoke_result_t<Work&>>::start(pool, kept);
    if (!begun) co_return begun.error();
    const auto call = *begun;
    co_return co_await call->wait();
}

struct event_loops_options {
    /// 0: one for each core available to this process.
    std::size_t loops = 0;
    /// Loop i runs only on core cores[i]; loops beyond the list run anywhere.
    std::vector<int> cores;
    std::size_t blocking_threads = 4;
    std::size_t blocking_pending_max = 256;
};

/// Starts its threads when created; stops and joins them when stopped or destroyed. Whatever runs on the
/// loops (task groups, servers) must be stopped first. Used by the main thread.
class event_loops {
  public:
    /// Throws std::system_error when a thread cannot be started or pinned.
    explicit event_loops(event_loops_options = {}, const clock& = system_clock());
    ~event_loops();
    event_loops(const event_loops&) = delete;
    event_loops& operator=(const event_loops&) = delete;

    std::size_t size() const noexcept { return x_loops.size(); }
    event_loop& operator[](std::size_t index) noexcept { return *x_loops[index]; }
    blocking_pool& blocking() noexcept { return x_blocking; }
    /// Joins all threads; tasks that have not begun never run. May be called twice.
    void stop();

  private:
    std::vector<std::unique_ptr<event_loop>> x_loops;
    blocking_pool x_blocking;
    context_threads x_threads;
};

}  // namespace herald::runtime
