// Protects P4 over the whole worker: receivers that hang or are dead delay nobody else, and fill neither
// memory nor the log.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "events/log/limits.hpp"
#include "runtime/limits.hpp"
#include "tests/unit/workers/worker_world.hpp"
#include "workers/limits.hpp"

namespace herald::test {
namespace {

using namespace workers;

using schemas::attempt_result;
using testing::HasSubstr;

TEST_F(worker_test, a_hanging_receiver_delays_nobody_else) {
    write_webhooks(1, 40);
    transport.behave = [](const sent_request& request) {
        const bool hangs = request.webhook_id.value > 1;
        return receiver_behaviour{.takes_ms = hangs ? 60 * second : 5};
    };
    start();
    std::vector<std::uint64_t> everybody;
    for (std::uint64_t id = 1; id <= 40; ++id) everybody.push_back(id);
    for (int event = 0; event < 300; ++event) {
        const std::size_t before = transport.sent_to({1}).size();
        publish(everybody);
        scheduler.run_for(100);
        ASSERT_EQ(transport.sent_to({1}).size(), before + 1) << "event " << event;
    }
    scheduler.run_for(20 * second);
    EXPECT_EQ(committed(), 300) << "what hangs leaves memory within seconds";
    EXPECT_LE(transport.running_max, 512);
}

TEST_F(worker_test, more_hanging_receivers_than_slots_delay_nobody_for_longer_than_it_takes_to_notice) {
    write_webhooks(1, 600);
    transport.behave = [](const sent_request& request) {
        return receiver_behaviour{.takes_ms = request.webhook_id.value > 1 ? 60 * second : 5};
    };
    start();
    std::vector<std::uint64_t> hanging;
    for (std::uint64_t id = 2; id <= 600; ++id) hanging.push_back(id);
    publish(hanging);
    scheduler.run_for(limits::slow_attempt_ms + second);
    publish({1});
    scheduler.run_for(100);
    EXPECT_EQ(transport.sent_to({1}).size(), 1u);
}

TEST_F(worker_test, ten_thousand_deliveries_to_a_dead_receiver_leave_memory_within_seconds) {
    write_webhooks(1, 1);
    transport.behave = [](const sent_request&) { return receiver_behaviour{.takes_ms = 60 * second}; };
    start();
    for (int event = 0; event < 10'000; ++event) publish({1});
    scheduler.run_for(20 * second);
    EXPECT_EQ(committed(), 10'000);
    EXPECT_LE(gauges().deliveries_in_memory, limits::lane_depth_min + limits::lane_concurrency_max);
}

TEST_F(worker_test, a_quick_receiver_that_suddenly_hangs_leaves_others_room_in_the_window) {
    write_webhooks(1, 2);
    bool hangs = false;
    transport.behave = [&](const sent_request& request) {
        return receiver_behaviour{.takes_ms = hangs && request.webhook_id.value == 1 ? 60 * second : 1};
    };
    start();
    for (int event = 0; event < 200; ++event) publish({1});
    scheduler.run_for(1 * second);
    hangs = true;
    for (std::size_t event = 0; event < limits::worker_window_max + 500; ++event) publish({1});
    publish({2});
    scheduler.run_for(200);
    EXPECT_EQ(transport.sent_to({2}).size(), 1u);
}

TEST_F(worker_test, large_events_for_hanging_receivers_stay_within_the_memory_bound_and_delay_nobody) {
    write_webhooks(1, 21);
    transport.behave = [](const sent_request& request) {
        return receiver_behaviour{.takes_ms = request.webhook_id.value == 1 ? 5 : 60 * second};
    };
    start();
    for (int event = 0; event < 200; ++event) {
        schemas::event large = event_for({2 + std::uint64_t(event) % 20});
        large.body.assign(1024 * 1024, 'x');
        publish(large);
    }
    publish({1});
    scheduler.run_for(1 * second);
    EXPECT_EQ(transport.sent_to({1}).size(), 1u);
    scheduler.run_for(30 * second);
    EXPECT_EQ(committed(), 201);
}

TEST_F(worker_test, a_webhook_with_too_many_deliveries_waiting_gets_no_more_and_they_are_kept_as_dead) {
    options.retry_backlog_max = 50;
    write_webhooks(1, 2);
    transport.behave = [](const sent_request& request) {
        return receiver_behaviour{.status = std::uint16_t(request.webhook_id.value == 1 ? 500 : 200)};
    };
    start();
    for (int event = 0; event < 80; ++event) publish({1, 2});
    scheduler.run_for(1 * second);
    EXPECT_EQ(transport.sent_to({2}).size(), 80u);
    const auto kept = dead();
    ASSERT_EQ(kept.size(), 30u);
    EXPECT_THAT(kept[0].reason, HasSubstr("too many"));
    EXPECT_EQ(kept[0].webhook_id.value, 1u);
    std::size_t never_attempted = 0;
    for (const schemas::attempt& one : attempts_of(1))
        if (one.result == attempt_result::dead && one.number == 0) ++never_attempted;
    EXPECT_GE(never_attempted, 29u) << "the breaker opened after ten attempts";
    EXPECT_EQ(committed(), 80);
}

}  // namespace
}  // namespace herald::test
