// Protects delivery.md §4, "Pace": a process that is late itself takes no other for slow. How long an answer
// took is the kernel's word, and what came within a limit counts, however late it is looked at.
#include <gtest/gtest.h>

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "tests/process/workers/client_bench.hpp"
#include "tests/process/workers/delivery_bench.hpp"
#include "tests/process/workers/receiver.hpp"

namespace herald::test {
namespace {

using namespace runtime::http::client;
using std::chrono::milliseconds;

constexpr std::string_view answer_text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

struct late_loop : no_descriptor_leaks {
    /// A receiver that answers after this time.
    static receiver::script after(int ms) {
        return [ms](peer& one) {
            while (!one.read_request().empty()) {
                std::this_thread::sleep_for(milliseconds(ms));
                one.send(answer_text);
            }
        };
    }

    /// Asks; `begin_ms` later the loop stands still for `ms`, as a throttled process does.
    static answer ask_and_stand_still(client_bench& bench, request asked, int begin_ms, int ms) {
        boost::asio::steady_timer timer(bench.io, milliseconds(begin_ms));
        timer.async_wait(
            [ms](const boost::system::error_code&) { std::this_thread::sleep_for(milliseconds(ms)); });
        return bench.ask(std::move(asked));
    }
};

TEST_F(late_loop, does_not_lengthen_the_time_that_an_answer_took) {
    receiver target(after(50));
    client_bench bench;
    const answer got = ask_and_stand_still(bench, client_bench::to(target, answer_body::collected), 20, 600);
    ASSERT_EQ(got.status, 200) << got.message;
    ASSERT_TRUE(got.answer_ms);
    EXPECT_GE(*got.answer_ms, 30);
    EXPECT_LT(*got.answer_ms, 400) << "the receiver was not slow";
    EXPECT_GE(got.times.total_us, 500'000u) << "the loop stood still";
}

TEST_F(late_loop, sees_that_a_receiver_is_slow) {
    receiver target(after(400));
    client_bench bench;
    const answer got = ask_and_stand_still(bench, client_bench::to(target, answer_body::collected), 20, 100);
    ASSERT_EQ(got.status, 200) << got.message;
    EXPECT_GE(got.answer_ms.value_or(0), 300);
}

/// More than epoll reports at once: timers run before the rest of it is looked at.
TEST_F(late_loop, takes_the_answers_that_came_in_time_though_it_looks_after_the_deadline) {
    receiver target(after(50));
    constexpr int exchanges = 300;
    client_bench bench;
    int answered = 0;
    int succeeded = 0;
    std::vector<std::unique_ptr<exchange>> under_way;
    for (int i = 0; i < exchanges; ++i) {
        request asked = client_bench::to(target, answer_body::collected);
        asked.deadline_ms = 2'000;
        under_way.push_back(bench.start(std::move(asked), [&](const answer& got) {
            ++answered;
            if (got.status == 200) ++succeeded;
        }));
    }
    boost::asio::steady_timer timer(bench.io);
    // All are sent by then, or their requests wait in the kernel.
    bench.run_until([&] { return target.connections() == exchanges; });
    timer.expires_after(milliseconds(0));
    timer.async_wait(
        [](const boost::system::error_code&) { std::this_thread::sleep_for(milliseconds(2'500)); });
    bench.run_until([&] { return answered == exchanges; });
    EXPECT_EQ(succeeded, exchanges);
}

TEST_F(late_loop, ends_an_attempt_that_has_no_answer_when_it_looks) {
    receiver target([](peer& one) {
        one.read_request();
        one.hang();
    });
    client_bench bench;
    request asked = client_bench::to(target, answer_body::collected);
    asked.deadline_ms = 200;
    const answer got = ask_and_stand_still(bench, std::move(asked), 20, 400);
    EXPECT_EQ(got.failed, failure::timeout) << got.message;
}

TEST_F(late_loop, gives_a_dripping_receiver_no_more_than_one_last_look) {
    receiver target([](peer& one) {
        one.read_request();
        one.drip(std::string(1'000, 'x'), 1);
    });
    client_bench bench;
    request asked = client_bench::to(target, answer_body::collected);
    asked.deadline_ms = 200;
    const auto begin = std::chrono::steady_clock::now();
    const answer got = ask_and_stand_still(bench, std::move(asked), 50, 200);
    EXPECT_NE(got.failed, failure::none);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(1'500));
}

}  // namespace
}  // namespace herald::test
