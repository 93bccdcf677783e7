// Protects long calls: one per user at a time goes through many rows, and no other user waits for it.
#include "api/turns.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <map>
#include <optional>

#include "api/limits.hpp"

namespace herald::api {
namespace {

class hand_turned final : public runtime::scheduler {
  public:
    void post(task) override { FAIL() << "nothing is posted"; }
    void run_at(std::int64_t at_ms, task work) override { x_tasks.emplace(at_ms, std::move(work)); }
    const runtime::clock& time() const noexcept override { return x_clock; }
    void run_for(std::int64_t ms) {
        x_clock.advance_ms(ms);
        while (!x_tasks.empty() && x_tasks.begin()->first <= x_clock.steady_ms()) {
            const task work = std::move(x_tasks.begin()->second);
            x_tasks.erase(x_tasks.begin());
            work();
        }
    }

  private:
    runtime::manual_clock x_clock;
    std::multimap<std::int64_t, task> x_tasks;
};

class turns_test : public testing::Test {
  protected:
    using outcome = std::optional<result<turns::turn>>;

    boost::asio::io_context context;
    hand_turned scheduler;
    std::optional<turns> all{std::in_place};

    void take(std::uint64_t user, outcome& out) {
        const auto asking = [this, user, &out]() -> boost::asio::awaitable<void> {
            out = co_await all->take(schemas::user_id{user}, scheduler);
        };
        boost::asio::co_spawn(context, asking, [](const std::exception_ptr&) {});
        run();
    }
    void run() {
        context.restart();
        context.poll();
    }
};

TEST_F(turns_test, pass_in_order_within_a_user_and_do_not_touch_others) {
    outcome first, second, third, other;
    take(1, first);
    take(1, second);
    take(1, third);
    take(2, other);
    ASSERT_TRUE(first && first->has_value());
    EXPECT_TRUE(other && other->has_value());
    EXPECT_FALSE(second || third);
    first.reset();
    run();
    ASSERT_TRUE(second && second->has_value());
    EXPECT_FALSE(third);
    second.reset();
    run();
    ASSERT_TRUE(third && third->has_value());
    third.reset();
    take(1, first);
    EXPECT_TRUE(first && first->has_value());
}

TEST_F(turns_test, are_waited_for_ten_seconds) {
    outcome first, second, third;
    take(1, first);
    take(1, second);
    scheduler.run_for(limits::turn_wait_ms_max - 1);
    take(1, third);
    EXPECT_FALSE(second);
    scheduler.run_for(1);
    run();
    ASSERT_TRUE(second);
    EXPECT_EQ(second->error().code, error_code::resource_exhausted);
    first.reset();
    run();
    EXPECT_TRUE(third && third->has_value()) << "who gave up leaves no gap";
    scheduler.run_for(limits::turn_wait_ms_max);
    run();
    EXPECT_TRUE(third->has_value());
}

TEST_F(turns_test, may_be_given_back_when_the_queues_are_gone) {
    outcome first;
    take(1, first);
    all.reset();
    first.reset();
}

}  // namespace
}  // namespace herald::api
