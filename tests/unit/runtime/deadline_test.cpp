// Protects everybody from slow operations: a deadline fires once, never early.
#include "runtime/deadline.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <memory>
#include <optional>

#include "runtime/event_loop.hpp"

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

}  // namespace
}  // namespace herald::test
