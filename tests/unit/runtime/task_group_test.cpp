// Protects owners from their tasks: none outlives its group, a failing one ends no other, and a cancelled one
// ends.
#include "runtime/task_group.hpp"

#include <gtest/gtest.h>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <memory>
#include <stdexcept>

namespace herald::test {
namespace {

using namespace runtime;

boost::asio::awaitable<void> sleep(std::int64_t ms) {
    boost::asio::steady_timer pause(co_await boost::asio::this_coro::executor, std::chrono::milliseconds(ms));
    co_await pause.async_wait(boost::asio::use_awaitable);
}

boost::asio::awaitable<void> sleep_and_set(std::int64_t ms, std::shared_ptr<bool> flag) {
    co_await sleep(ms);
    *flag = true;
}

boost::asio::awaitable<void> fail() {
    co_await sleep(1);
    throw std::runtime_error("meant to be thrown");
}

boost::asio::awaitable<void> refuse_to_end(std::shared_ptr<int> rounds) {
    for (;;) {
        try {
            co_await sleep(60'000);
        } catch (const boost::system::system_error&) {
            if (++*rounds == 3) throw;
        }
    }
}

class task_group_test : public ::testing::Test {
  protected:
    event_loops loops{{.loops = 1}};
    task_group group{loops[0]};
};

TEST_F(task_group_test, waits_for_all_its_tasks) {
    auto first = std::make_shared<bool>(false);
    auto second = std::make_shared<bool>(false);
    group.start("first", sleep_and_set(30, first));
    group.start("second", sleep_and_set(1, second));
    EXPECT_TRUE(group.join(10'000));
    EXPECT_TRUE(*first && *second);
}

TEST_F(task_group_test, that_is_empty_is_joined_at_once) { EXPECT_TRUE(group.join(0) || group.join(10'000)); }

TEST_F(task_group_test, says_when_a_task_takes_longer) {
    group.start("long", sleep(60'000));
    EXPECT_FALSE(group.join(20));
    group.stop();
}

TEST_F(task_group_test, survives_a_task_that_throws) {
    auto flag = std::make_shared<bool>(false);
    group.start("fails", fail());
    group.start("works", sleep_and_set(20, flag));
    EXPECT_TRUE(group.join(10'000));
    EXPECT_TRUE(*flag);
}

TEST_F(task_group_test, ends_tasks_when_stopped_and_drops_new_ones) {
    auto flag = std::make_shared<bool>(false);
    for (int i = 0; i < 100; ++i) group.start("long", sleep_and_set(60'000, flag));
    group.stop();
    group.start("after the end", sleep_and_set(0, flag));
    EXPECT_TRUE(group.join(10'000));
    EXPECT_FALSE(*flag);
    EXPECT_EQ(flag.use_count(), 1) << "a frame is left";
}

TEST_F(task_group_test, ends_a_task_that_goes_on_after_its_first_cancelled_wait) {
    auto rounds = std::make_shared<int>(0);
    group.start("stubborn", refuse_to_end(rounds));
    group.stop();
    EXPECT_EQ(*rounds, 3);
}

TEST_F(task_group_test, starts_tasks_from_any_thread_and_from_its_own_tasks) {
    auto flag = std::make_shared<bool>(false);
    loops[0].post([&, flag] { group.start("from the loop", sleep_and_set(1, flag)); });
    EXPECT_TRUE(group.join(10'000));
    EXPECT_TRUE(*flag);
}

}  // namespace
}  // namespace herald::test
