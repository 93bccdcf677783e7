// Protects everybody from slow operations: a deadline fires once, never early, and a late operation is ended
// before its caller continues.
#include "runtime/deadline.hpp"

#include <gtest/gtest.h>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <future>
#include <optional>
#include <string>

#include "runtime/task_group.hpp"

namespace herald::test {
namespace {

using namespace runtime;

class deadline_test : public ::testing::Test {
  protected:
    void on_loop(const std::function<void()>& work) {
        std::promise<void> done;
        loop.post([&] {
            work();
            done.set_value();
        });
        done.get_future().wait();
    }
    std::int64_t now() const { return loop.time().steady_ms(); }

    event_loops loops{{.loops = 1}};
    event_loop& loop = loops[0];
    task_group group{loop};
};

TEST_F(deadline_test, fires_once_and_not_early) {
    std::promise<std::int64_t> fired;
    std::optional<deadline> limit;
    std::int64_t at = 0;
    int count = 0;
    on_loop([&] {
        limit.emplace(loop, [&] {
            ++count;
            fired.set_value(now());
        });
        at = now() + 20;
        limit->set(at);
    });
    EXPECT_GE(fired.get_future().get(), at);
    on_loop([&] {
        EXPECT_EQ(count, 1);
        limit.reset();
    });
}

TEST_F(deadline_test, that_is_moved_fires_at_the_last_time_set) {
    for (const auto& [first_ms, second_ms] : {std::pair{10, 60}, std::pair{5'000, 20}}) {
        std::promise<std::int64_t> fired;
        std::optional<deadline> limit;
        std::int64_t at = 0;
        on_loop([&] {
            limit.emplace(loop, [&] { fired.set_value(now()); });
            limit->set(now() + first_ms);
            at = now() + second_ms;
            limit->set(at);
        });
        const std::int64_t got = fired.get_future().get();
        EXPECT_GE(got, at);
        EXPECT_LT(got, at + 4'000);
        on_loop([&] { limit.reset(); });
    }
}

TEST_F(deadline_test, that_is_cleared_or_gone_never_fires) {
    std::promise<void> later;
    std::optional<deadline> cleared, gone, last;
    on_loop([&] {
        cleared.emplace(loop, [] { ADD_FAILURE() << "was cleared"; });
        gone.emplace(loop, [] { ADD_FAILURE() << "is gone"; });
        last.emplace(loop, [&] { later.set_value(); });
        cleared->set_after(5);
        gone->set_after(5);
        last->set_after(30);
        cleared->clear();
        gone.reset();
    });
    later.get_future().wait();
    on_loop([&] { cleared.reset(), last.reset(); });
}

TEST_F(deadline_test, may_be_set_again_or_destroyed_when_it_fires) {
    std::promise<void> third;
    std::unique_ptr<deadline> limit;
    int count = 0;
    on_loop([&] {
        limit = std::make_unique<deadline>(loop, [&] {
            if (++count < 3) return limit->set_after(1);
            third.set_value();
            limit.reset();
        });
        limit->set_after(1);
    });
    third.get_future().wait();
    on_loop([&] { EXPECT_EQ(count, 3); });
}

boost::asio::awaitable<result<int>> give_after(std::int64_t ms, bool& ended) {
    struct at_end {
        ~at_end() { flag = true; }
        bool& flag;
    };
    const at_end mark{ended};
    boost::asio::steady_timer pause(co_await boost::asio::this_coro::executor, std::chrono::milliseconds(ms));
    co_await pause.async_wait(boost::asio::use_awaitable);
    co_return 7;
}

boost::asio::awaitable<void> measure(event_loop& loop, std::int64_t takes_ms, std::int64_t may_ms,
                                     result<int>& out, bool& ended) {
    out = co_await with_deadline(loop, may_ms, "the test", give_after(takes_ms, ended));
    EXPECT_TRUE(ended) << "the caller goes on while the work still runs";
}

TEST_F(deadline_test, leaves_an_operation_alone_that_is_in_time) {
    result<int> out = 0;
    bool ended = false;
    group.start("test", measure(loop, 1, 10'000, out, ended));
    EXPECT_TRUE(group.join(10'000));
    EXPECT_EQ(*out, 7);
}

TEST_F(deadline_test, ends_an_operation_that_is_late) {
    result<int> out = 0;
    bool ended = false;
    const std::int64_t start = now();
    group.start("test", measure(loop, 60'000, 20, out, ended));
    EXPECT_TRUE(group.join(10'000));
    ASSERT_FALSE(out);
    EXPECT_EQ(out.error().code, error_code::deadline_exceeded);
    EXPECT_EQ(out.error().message, "the test took longer than 20 ms");
    EXPECT_GE(now() - start, 20);
}

boost::asio::awaitable<result<int>> fail_with(error failure) { co_return failure; }

boost::asio::awaitable<result<int>> throw_something() {
    throw std::runtime_error("meant");
    co_return 0;
}

boost::asio::awaitable<void> expect_passed_on(event_loop& loop) {
    const result<int> failed =
        co_await with_deadline(loop, 10'000, "the test", fail_with(not_found("nothing")));
    EXPECT_EQ(failed.error(), not_found("nothing"));
    std::string thrown;
    try {
        co_await with_deadline(loop, 10'000, "the test", throw_something());
    } catch (const std::runtime_error& caught) {
        thrown = caught.what();
    }
    EXPECT_EQ(thrown, "meant");
}

TEST_F(deadline_test, passes_on_errors_and_exceptions) {
    group.start("test", expect_passed_on(loop));
    EXPECT_TRUE(group.join(10'000));
}

boost::asio::awaitable<void> wait_in_vain(event_loop& loop, bool& ended) {
    co_await with_deadline(loop, 60'000, "the test", give_after(60'000, ended));
    ADD_FAILURE() << "was cancelled";
}

TEST_F(deadline_test, passes_its_callers_cancellation_on) {
    bool ended = false;
    group.start("test", wait_in_vain(loop, ended));
    on_loop([] {});
    EXPECT_FALSE(ended);
    group.cancel();
    EXPECT_TRUE(group.join(10'000));
    EXPECT_TRUE(ended);
}

boost::asio::awaitable<void> expect_free_after(event_loop& loop) {
    bool ended = false;
    const result<int> late = co_await with_deadline(loop, 5, "the test", give_after(60'000, ended));
    EXPECT_FALSE(late);
    const result<int> next = co_await with_deadline(loop, 10'000, "the test", give_after(1, ended));
    EXPECT_TRUE(next) << "a deadline that passed must not cancel what comes after";
}

TEST_F(deadline_test, that_passed_leaves_its_caller_uncancelled) {
    group.start("test", expect_free_after(loop));
    EXPECT_TRUE(group.join(10'000));
}

}  // namespace
}  // namespace herald::test
