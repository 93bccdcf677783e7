// Protects code driven by a loop: tasks run one by one on the loop's thread, in order, never early; and
// blocking calls leave it free.
#include "runtime/event_loop.hpp"

#include <gtest/gtest.h>

#include <boost/asio/this_coro.hpp>

#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "runtime/task_group.hpp"
#include "tests/support/until.hpp"

namespace herald::test {
namespace {

using namespace runtime;

/// Runs `work` on the loop and waits for it.
void on(event_loop& loop, const std::function<void()>& work) {
    std::promise<void> done;
    loop.post([&] {
        work();
        done.set_value();
    });
    done.get_future().wait();
}

TEST(event_loop, runs_what_is_posted_in_order_on_its_own_thread) {
    event_loops loops({.loops = 2});
    std::vector<int> order;
    std::vector<std::thread::id> threads;
    for (int i = 0; i < 100; ++i)
        loops[0].post([&, i] {
            order.push_back(i);
            threads.push_back(std::this_thread::get_id());
        });
    std::thread::id other;
    on(loops[1], [&] { other = std::this_thread::get_id(); });
    on(loops[0], [&] { EXPECT_TRUE(loops[0].is_current()); });
    ASSERT_EQ(order.size(), 100u);
    for (std::size_t i = 0; i < order.size(); ++i) {
        EXPECT_EQ(order[i], static_cast<int>(i));
        EXPECT_EQ(threads[i], threads[0]);
    }
    EXPECT_NE(threads[0], other);
    EXPECT_FALSE(loops[0].is_current());
}

TEST(event_loop, runs_delayed_tasks_by_their_time_and_never_early) {
    event_loops loops({.loops = 1});
    event_loop& loop = loops[0];
    std::vector<std::pair<std::int64_t, std::int64_t>> wanted_and_got;
    std::promise<void> done;
    loop.post([&] {
        const std::int64_t now = loop.time().steady_ms();
        for (const std::int64_t after : {30, 10, 20, 10, 0, -5})
            loop.run_at(now + after, [&, at = now + after] {
                wanted_and_got.emplace_back(at, loop.time().steady_ms());
                if (wanted_and_got.size() == 6) done.set_value();
            });
    });
    done.get_future().wait();
    for (std::size_t i = 0; i < wanted_and_got.size(); ++i) {
        EXPECT_GE(wanted_and_got[i].second, wanted_and_got[i].first);
        if (i > 0) EXPECT_GE(wanted_and_got[i].first, wanted_and_got[i - 1].first);
    }
}

TEST(event_loop, keeps_the_order_of_tasks_of_one_time) {
    event_loops loops({.loops = 1});
    std::vector<int> order;
    std::promise<void> done;
    loops[0].post([&] {
        const std::int64_t at = loops[0].time().steady_ms() + 5;
        for (int i = 0; i < 50; ++i) loops[0].run_at(at, [&, i] { order.push_back(i); });
        loops[0].run_at(at, [&] { done.set_value(); });
    });
    done.get_future().wait();
    for (int i = 0; i < 50; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(event_loop, lets_others_run_beside_a_task_that_is_always_due) {
    event_loops loops({.loops = 1});
    event_loop& loop = loops[0];
    std::atomic<bool> stop = false;
    std::function<void()> again = [&] {
        if (!stop) loop.run_at(0, again);
    };
    loop.post(again);
    for (int i = 0; i < 10; ++i) on(loop, [] {});
    stop = true;
    on(loop, [] {});
}

TEST(event_loop, drops_what_is_left_when_it_stops) {
    auto held = std::make_shared<int>(7);
    {
        event_loops loops({.loops = 1});
        on(loops[0], [&] { loops[0].run_at(loops[0].time().steady_ms() + 1'000'000, [held] {}); });
        loops.stop();
        loops[0].post([held] { ADD_FAILURE() << "ran after the end"; });
        loops.stop();
    }
    EXPECT_EQ(held.use_count(), 1);
}

TEST(event_loops, can_be_pinned_to_cores_that_exist_only) {
    event_loops loops({.loops = 1, .cores = {0}});
    on(loops[0], [] { EXPECT_EQ(::sched_getcpu(), 0); });
    EXPECT_THROW(event_loops({.loops = 1, .cores = {1023}}), std::system_error);
}

boost::asio::awaitable<void> call_blocking(event_loops& loops, std::function<result<int>()> work,
                                           result<int>& out) {
    out = co_await run_blocking(loops.blocking(), std::move(work));
    EXPECT_TRUE(loops[0].is_current());
}

TEST(run_blocking, leaves_the_loop_free_and_comes_back_to_it) {
    event_loops loops({.loops = 1});
    task_group group(loops[0]);
    std::promise<void> go_on;
    std::thread::id ran_on;
    result<int> out = 0;
    group.start("test", call_blocking(
                            loops,
                            [&]() -> result<int> {
                                ran_on = std::this_thread::get_id();
                                go_on.get_future().wait();
                                return 7;
                            },
                            out));
    std::thread::id loop_thread;
    on(loops[0], [&] { loop_thread = std::this_thread::get_id(); });
    go_on.set_value();
    EXPECT_TRUE(group.join(10'000));
    EXPECT_EQ(*out, 7);
    EXPECT_NE(ran_on, loop_thread);
}

boost::asio::awaitable<void> tell_after(event_loops& loops, std::promise<void>& told) {
    const std::function<result<int>()> quick = []() -> result<int> { return 1; };
    co_await run_blocking(loops.blocking(), quick);
    told.set_value();
}

TEST(run_blocking, comes_back_without_waiting_for_the_calls_behind_it) {
    event_loops loops({.loops = 1, .blocking_threads = 1});
    task_group group(loops[0]);
    std::promise<void> gate, told;
    const auto waits = [&]() -> result<int> {
        gate.get_future().wait();
        return 1;
    };
    result<int> out = 0;
    on(loops[0], [&] {  // both are queued before either has ended
        group.start("test", tell_after(loops, told));
        group.start("test", call_blocking(loops, waits, out));
    });
    EXPECT_EQ(told.get_future().wait_for(std::chrono::seconds(5)), std::future_status::ready);
    gate.set_value();
    EXPECT_TRUE(group.join(10'000));
}

boost::asio::awaitable<void> expect_exception(event_loops& loops) {
    const std::function<result<int>()> throws = []() -> result<int> { throw std::runtime_error("meant"); };
    std::string thrown;
    try {
        co_await run_blocking(loops.blocking(), throws);
    } catch (const std::runtime_error& caught) {
        thrown = caught.what();
    }
    EXPECT_EQ(thrown, "meant");
}

TEST(run_blocking, passes_on_what_is_thrown) {
    event_loops loops({.loops = 1});
    task_group group(loops[0]);
    group.start("test", expect_exception(loops));
    EXPECT_TRUE(group.join(10'000));
}

using started = started_call<result<int>>;

boost::asio::awaitable<void> start_and_go_on(event_loops& loops, std::promise<void>& gate, int& seen) {
    const auto waits = [&gate]() -> result<int> {
        gate.get_future().wait();
        return 7;
    };
    const auto call = started::start(loops.blocking(), waits).value();
    gate.set_value();  // the call did not keep the loop
    const auto out = co_await call->wait();
    EXPECT_TRUE(loops[0].is_current());
    seen = out.value();
}

TEST(started_call, goes_on_while_its_owner_does_something_else) {
    event_loops loops({.loops = 1, .blocking_threads = 1});
    task_group group(loops[0]);
    std::promise<void> gate;
    int seen = 0;
    group.start("test", start_and_go_on(loops, gate, seen));
    EXPECT_TRUE(group.join(10'000));
    EXPECT_EQ(seen, 7);
}

boost::asio::awaitable<void> expect_exception_of_started(event_loops& loops) {
    const auto throws = []() -> result<int> { throw std::runtime_error("meant"); };
    const auto call = started::start(loops.blocking(), throws).value();
    std::string thrown;
    try {
        co_await call->wait();
    } catch (const std::runtime_error& caught) {
        thrown = caught.what();
    }
    EXPECT_EQ(thrown, "meant");
}

TEST(started_call, passes_on_what_is_thrown) {
    event_loops loops({.loops = 1});
    task_group group(loops[0]);
    group.start("test", expect_exception_of_started(loops));
    EXPECT_TRUE(group.join(10'000));
}

TEST(started_call, may_be_left_alone_and_counts_as_long_as_it_runs) {
    event_loops loops({.loops = 1, .blocking_threads = 1, .blocking_pending_max = 1});
    std::promise<void> go_on, ended;
    const auto waits = [&]() -> result<int> {
        go_on.get_future().wait();
        ended.set_value();
        return 1;
    };
    EXPECT_TRUE(started::start(loops.blocking(), waits));
    const auto refused = started::start(loops.blocking(), waits);
    EXPECT_EQ(refused.error().code, error_code::unavailable);
    go_on.set_value();
    ended.get_future().wait();
}

boost::asio::awaitable<void> wait_for_started(std::shared_ptr<started> call,
                                              std::promise<result<int>>& came) {
    auto out = co_await call->wait();
    came.set_value(std::move(out));
}

TEST(started_call, that_is_given_up_answers_at_once_and_goes_on) {
    event_loops loops({.loops = 1, .blocking_threads = 1});
    task_group group(loops[0]);
    std::promise<void> go_on;
    std::promise<result<int>> came;
    std::promise<bool> ended;
    const auto waits = [&]() -> result<int> {
        go_on.get_future().wait();
        return 1;
    };
    const auto call = started::start(loops.blocking(), waits).value();
    group.start("test", wait_for_started(call, came));
    loops[0].post([&] { call->give_up(); });
    EXPECT_EQ(came.get_future().get().error().code, error_code::deadline_exceeded);
    loops[0].post([&] { ended.set_value(call->has_ended()); });
    EXPECT_FALSE(ended.get_future().get());
    go_on.set_value();
    const auto has_ended = [&] {
        std::promise<bool> asked;
        loops[0].post([&] { asked.set_value(call->has_ended()); });
        return asked.get_future().get();
    };
    EXPECT_TRUE(test::eventually(has_ended));
    EXPECT_TRUE(group.join(10'000));
}

TEST(run_blocking, refuses_more_than_its_bound_and_takes_more_later) {
    event_loops loops({.loops = 1, .blocking_threads = 1, .blocking_pending_max = 2});
    task_group group(loops[0]);
    std::promise<void> go_on;
    const std::shared_future<void> gate = go_on.get_future().share();
    const auto waits = [gate]() -> result<int> {
        gate.wait();
        return 1;
    };
    std::vector<result<int>> out(4, result<int>(0));
    for (std::size_t i = 0; i < 3; ++i) group.start("test", call_blocking(loops, waits, out[i]));
    on(loops[0], [] {});
    on(loops[0], [&] { EXPECT_EQ(out[2].error().code, error_code::unavailable); });
    go_on.set_value();
    EXPECT_TRUE(group.join(10'000));
    EXPECT_EQ(*out[0] + *out[1], 2);
    group.start("test", call_blocking(loops, waits, out[3]));
    EXPECT_TRUE(group.join(10'000));
    EXPECT_EQ(*out[3], 1);
}

}  // namespace
}  // namespace herald::test
