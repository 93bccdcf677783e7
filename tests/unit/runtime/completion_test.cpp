// Protects the one way from a callback to a coroutine: what holds when it is completed twice, when the
// coroutine is cancelled, and which thread goes on.
#include "runtime/completion.hpp"

#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

namespace herald::test {
namespace {

using number = runtime::completion<int>;

void ended(const std::exception_ptr& thrown) { EXPECT_FALSE(thrown); }

class completed : public testing::Test {
  protected:
    /// One coroutine waits for it; `seen` is what it got.
    void begin(std::function<void()> cancelled = {}) {
        boost::asio::co_spawn(loop, wait_for(done, std::move(cancelled), seen),
                              boost::asio::bind_cancellation_slot(stop.slot(), ended));
        run();
    }
    void run() {
        loop.restart();
        loop.poll();
    }
    void cancel() {
        stop.emit(boost::asio::cancellation_type::all);
        run();
    }

    boost::asio::io_context loop;
    boost::asio::cancellation_signal stop;
    std::shared_ptr<number> done = std::make_shared<number>();
    std::optional<int> seen;

  private:
    static boost::asio::awaitable<void> wait_for(std::shared_ptr<number> what,
                                                 std::function<void()> cancelled, std::optional<int>& out) {
        co_await boost::asio::this_coro::throw_if_cancelled(false);
        out = co_await what->wait(std::move(cancelled));
    }
};

TEST_F(completed, twice_keeps_the_first_value) {
    begin();
    EXPECT_TRUE(done->give(1));
    EXPECT_FALSE(done->give(2));
    run();
    EXPECT_EQ(seen, 1);
}

TEST_F(completed, by_whoever_has_claimed_it_takes_no_other_value) {
    begin();
    EXPECT_TRUE(done->claim());
    EXPECT_FALSE(done->claim());
    EXPECT_FALSE(done->give(2));
    EXPECT_FALSE(done->is_given());
    done->give_claimed(1);
    run();
    EXPECT_EQ(seen, 1);
}

TEST_F(completed, before_the_wait_needs_none) {
    done->give(1);
    begin();
    EXPECT_EQ(seen, 1);
}

TEST_F(completed, on_another_thread_goes_on_where_the_coroutine_runs) {
    begin();
    std::thread([this] { done->give(1); }).join();
    EXPECT_FALSE(seen) << "not within the call";
    run();
    EXPECT_EQ(seen, 1);
}

TEST_F(completed, after_the_coroutine_was_cancelled_is_waited_for) {
    begin();
    cancel();
    EXPECT_FALSE(seen);
    done->give(1);
    run();
    EXPECT_EQ(seen, 1);
}

TEST_F(completed, by_the_cancelled_coroutine_itself_takes_no_other_value) {
    begin([this] { done->give(7); });
    cancel();
    EXPECT_EQ(seen, 7);
    EXPECT_FALSE(done->give(1));
}

TEST_F(completed, is_over_for_a_cancellation_that_comes_later) {
    int times = 0;
    begin([&] { ++times; });
    done->give(1);
    run();
    cancel();
    EXPECT_EQ(times, 0);
}

TEST_F(completed, never_is_the_end_of_who_waits) {
    const std::weak_ptr<number> kept = done;
    begin();
    done->abandon();
    done.reset();
    run();
    EXPECT_TRUE(kept.expired()) << "the coroutine that had it is gone";
}

boost::asio::awaitable<void> wait_from(std::shared_ptr<number> what, int& begun) {
    const auto begin = [&] { ++begun; };
    co_await what->given({}, begin);
}

TEST_F(completed, says_when_only_a_value_can_end_the_wait) {
    int begun = 0;
    boost::asio::co_spawn(loop, wait_from(done, begun), ended);
    run();
    EXPECT_EQ(begun, 1);
    done->give(1);
    run();
    boost::asio::co_spawn(loop, wait_from(done, begun), ended);
    run();
    EXPECT_EQ(begun, 1);
}

}  // namespace
}  // namespace herald::test
