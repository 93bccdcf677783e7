// Protects the schedule against wrong clocks: waits follow the log's clock, whatever this machine's clock
// shows, and whatever the log's clock does.
#include "workers/worker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "storage/node/limits.hpp"
#include "tests/unit/workers/worker_world.hpp"
#include "workers/fan_out.hpp"
#include "workers/retry_policy.hpp"

namespace herald::test {
namespace {

using namespace workers;

using schemas::attempt_result;
using schemas::delivery_source;
using testing::HasSubstr;

struct worker_clock_test : testing::Test, worker_world {};

// ---- wrong clocks

struct wrong_clock_test : worker_clock_test, testing::WithParamInterface<std::int64_t> {};

TEST_P(wrong_clock_test, a_worker_makes_each_attempt_when_it_is_due_by_the_logs_clock) {
    write_webhooks(1, 1);
    transport.behave = answers(500);
    scheduler.clock().jump_wall_ms(GetParam());
    start_heartbeats();
    start();
    publish({1});
    std::int64_t due_ms = scheduler.time().steady_ms();
    scheduler.run_for(1 * second);
    for (const std::int64_t wait : {5 * second, 30 * second}) {
        due_ms += wait;
        const std::size_t before = transport.sent().size();
        scheduler.run_for(due_ms - scheduler.time().steady_ms() - 1);
        stop();  // what waits is read by another worker, just before it is due
        start();
        EXPECT_EQ(transport.sent().size(), before) << "not early";
        scheduler.run_for(limits::heartbeat_interval_ms + second);
        EXPECT_EQ(transport.sent().size(), before + 1) << "not late";
        due_ms = transport.sent().back().at_ms;
    }
}

TEST_P(wrong_clock_test, a_worker_that_takes_over_attempts_nothing_before_it_is_due) {
    write_webhooks(1, 1);
    transport.behave = answers(500);
    start_heartbeats();
    start();
    publish({1});
    scheduler.run_for(7 * second);
    ASSERT_EQ(transport.sent().size(), 2u);
    stop();
    scheduler.clock().jump_wall_ms(GetParam());
    start();
    scheduler.run_for(27 * second);
    EXPECT_EQ(transport.sent().size(), 2u) << "not early";
    scheduler.run_for(4 * second);
    EXPECT_EQ(transport.sent().size(), 3u) << "not late";
}

TEST_P(wrong_clock_test, a_clock_that_steps_under_a_parked_webhook_neither_frees_nor_holds_it) {
    write_webhooks(1, 1);
    transport.behave = [](const sent_request&) {
        return receiver_behaviour{.status = 503, .headers = {{"retry-after", "600"}}};
    };
    start_heartbeats();
    start();
    scheduler.run_for(3 * second);
    publish({1});
    scheduler.run_for(1 * second);
    scheduler.clock().jump_wall_ms(GetParam());
    scheduler.run_for(598 * second);
    EXPECT_EQ(transport.sent().size(), 1u) << "not early";
    scheduler.run_for(45 * second);
    EXPECT_EQ(transport.sent().size(), 2u) << "not late";
}

TEST_P(wrong_clock_test, the_log_gets_its_own_time_and_the_receiver_the_machines) {
    write_webhooks(1, 1);
    scheduler.clock().jump_wall_ms(GetParam());
    start_heartbeats();
    start();
    scheduler.run_for(3 * second);
    publish({1});
    scheduler.settle();
    EXPECT_EQ(transport.sent().at(0).headers.at("webhook-timestamp"),
              std::to_string(scheduler.time().wall_ms() / second));
    scheduler.run_for(1 * second);
    EXPECT_NEAR(static_cast<double>(attempts().at(0).time_ms),
                static_cast<double>(log_time.wall_ms() - second), 10);
}

INSTANTIATE_TEST_SUITE_P(by, wrong_clock_test, testing::Values(hour, -hour, 72 * hour, -72 * hour));

// ---- a clock of the log that steps back

/// Whether API nodes still send heartbeats, and with them the time.
class stepped_back_test : public worker_clock_test, public testing::WithParamInterface<bool> {
  protected:
    void begin(std::uint64_t webhooks) {
        write_webhooks(1, webhooks);
        write({"registry.commands", 0}, "", "a heartbeat");
        if (GetParam()) start_heartbeats();
        start();
        scheduler.run_for(3 * second);
    }
    std::size_t put_off() {
        std::size_t all = 0;
        for (const retry_tier& tier : retry_tiers) all += all_of<schemas::delivery>(tier.topic).size();
        return all;
    }
};

TEST_P(stepped_back_test, an_open_breaker_puts_a_delivery_off_only_so_often) {
    begin(1);
    transport.behave = answers(500);
    publish({1});
    scheduler.run_for(6 * second);
    log_time.jump_ms(-72 * hour);
    for (int event = 0; event < 30; ++event) publish({1});
    scheduler.run_for(2 * minute);
    ASSERT_EQ(gauges().breakers_open, 1u);
    EXPECT_LE(put_off(), 31u * 24) << "never oftener than the shortest tier lets it";
    transport.behave = answers(200);
    scheduler.leap_for(24 * hour);
    EXPECT_EQ(gauges().deliveries_in_memory, 0u);
    std::set<std::string> delivered;
    for (const schemas::attempt& one : attempts())
        if (one.result == attempt_result::succeeded) delivered.insert(one.delivery_id);
    EXPECT_EQ(delivered.size(), 31u);
    EXPECT_TRUE(dead().empty());
}

TEST_P(stepped_back_test, a_parked_webhook_is_parked_for_what_it_asked_and_not_for_days) {
    begin(1);
    transport.behave = [](const sent_request&) {
        return receiver_behaviour{.status = 503, .headers = {{"retry-after", "600"}}};
    };
    publish({1});
    scheduler.run_for(1 * second);
    log_time.jump_ms(-72 * hour);
    transport.behave = answers(200);
    publish({1});
    scheduler.run_for(25 * minute);
    EXPECT_EQ(transport.sent().size(), 3u);
    EXPECT_LE(put_off(), 20u);
}

INSTANTIATE_TEST_SUITE_P(with_and_without_heartbeats, stepped_back_test, testing::Bool());

}  // namespace
}  // namespace herald::test
