// Protects "Parking" and the breaker of delivery.md §4 over the whole worker: a receiver that asks for time,
// or fails again and again, is left alone, its deliveries are kept, and no other webhook waits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/workers/worker_world.hpp"

namespace herald::test {
namespace {

using namespace workers;

using schemas::attempt_result;

TEST_F(worker_test, retry_after_parks_the_whole_webhook_and_no_other) {
    write_webhooks(1, 2);
    bool overloaded = true;
    transport.behave = [&](const sent_request& request) {
        if (overloaded && request.webhook_id.value == 1)
            return receiver_behaviour{.status = 429, .headers = {{"retry-after", "600"}}};
        return receiver_behaviour{};
    };
    start();
    publish({1, 2});
    scheduler.run_for(1 * second);
    for (int event = 0; event < 20; ++event) publish({1, 2});
    overloaded = false;
    scheduler.run_for(600 * second - 3 * second);
    EXPECT_EQ(transport.sent_to({1}).size(), 1u) << "nothing before its time";
    EXPECT_EQ(transport.sent_to({2}).size(), 21u);
    EXPECT_EQ(committed(), 21) << "what is parked waits in the retry topics";
    scheduler.run_for(120 * second);
    EXPECT_EQ(transport.sent_to({1}).size(), 22u);
    EXPECT_EQ(gauges().deliveries_in_memory, 0u);
}

TEST_F(worker_test, a_retry_after_that_asks_for_nothing_opens_the_breaker_like_any_failure) {
    write_webhooks(1, 1);
    transport.behave = [](const sent_request&) {
        return receiver_behaviour{.status = 503, .headers = {{"retry-after", "0"}}};
    };
    start();
    for (int event = 0; event < 40; ++event) publish({1});
    scheduler.run_for(3 * second);
    EXPECT_EQ(gauges().breakers_open, 1u);
    EXPECT_EQ(transport.sent().size(), 10u);
}

TEST_F(worker_test, a_parked_webhook_stays_parked_after_a_restart) {
    write_webhooks(1, 1);
    transport.behave = [](const sent_request&) {
        return receiver_behaviour{.status = 503, .headers = {{"retry-after", "3600"}}};
    };
    start();
    publish({1});
    scheduler.run_for(1 * second);
    stop();
    start();
    scheduler.run_for(59 * minute);
    EXPECT_EQ(transport.sent().size(), 1u);
    scheduler.run_for(2 * minute);
    EXPECT_EQ(transport.sent().size(), 2u);
}

TEST_F(worker_test, a_new_worker_learns_from_a_retry_record_that_the_webhook_is_parked) {
    write_webhooks(1, 1);
    transport.behave = [](const sent_request&) {
        return receiver_behaviour{.status = 503, .headers = {{"retry-after", "120"}}};
    };
    start();
    publish({1});
    scheduler.run_for(1 * second);
    stop();
    start();
    scheduler.run_for(31 * second);  // the wait is made of hops of 30 s
    publish({1});
    scheduler.run_for(80 * second);
    EXPECT_EQ(transport.sent().size(), 1u);
    transport.behave = answers(200);
    scheduler.run_for(60 * second);
    EXPECT_EQ(transport.sent().size(), 3u);
}

TEST_F(worker_test, a_pause_ends_when_the_webhook_is_moved_away_from_who_asked_for_it) {
    write_webhook(webhook(1, 10));
    transport.behave = [](const sent_request& request) {
        if (request.location == "https://receiver-1.example/200") return receiver_behaviour{};
        return receiver_behaviour{.status = 503, .headers = {{"retry-after", "86400"}}};
    };
    start();
    publish({1});
    publish({1});
    scheduler.run_for(1 * second);
    write_webhook(webhook(1, 200));
    publish({1});
    scheduler.run_for(1 * second);
    ASSERT_EQ(transport.sent().size(), 2u) << "one to the old place, one that came after it";
    EXPECT_EQ(transport.sent()[1].location, "https://receiver-1.example/200");
    scheduler.run_for(6 * 60 * minute + 1 * minute);
    EXPECT_EQ(transport.sent().size(), 4u)
        << "the others end the step that they were at, of six hours at most";
    EXPECT_EQ(gauges().deliveries_in_memory, 0u);
}

TEST_F(worker_test, what_the_old_place_answers_after_the_webhook_was_moved_parks_and_ends_nothing) {
    std::uint64_t revision = 0;
    for (const std::uint16_t status : {std::uint16_t{503}, std::uint16_t{410}}) {
        write_webhook(webhook(1, revision += 10));
        const std::string old_place = webhook(1, revision).settings.location;
        transport.behave = [&](const sent_request& request) {
            if (request.location != old_place) return receiver_behaviour{};
            return receiver_behaviour{
                .status = status, .takes_ms = 3 * second, .headers = {{"retry-after", "86400"}}};
        };
        start();
        const std::size_t before = transport.sent().size();
        publish({1});
        scheduler.run_for(1 * second);
        write_webhook(webhook(1, revision += 10));
        scheduler.run_for(10 * second);
        ASSERT_EQ(transport.sent().size(), before + 2) << status;
        EXPECT_EQ(transport.sent().back().location, webhook(1, revision).settings.location);
        EXPECT_TRUE(dead().empty());
        for (const schemas::attempt& each : attempts()) EXPECT_FALSE(each.disable_webhook);
        stop();
    }
}

TEST_F(worker_test, an_open_breaker_sends_deliveries_on_without_using_up_an_attempt) {
    write_webhooks(1, 1);
    transport.behave = answers(500);
    start();
    for (int event = 0; event < 30; ++event) {
        publish({1});
        scheduler.run_for(100);
    }
    scheduler.run_for(1 * second);
    EXPECT_EQ(transport.sent().size(), 10u);
    EXPECT_EQ(gauges().breakers_open, 1u);
    EXPECT_EQ(counters().spilled, 20u);
    EXPECT_EQ(committed(), 30);
    scheduler.run_for(10 * second);
    EXPECT_GE(all_of<schemas::delivery>("retry.30s").size(), 20u) << "until it may be probed";
    transport.behave = answers(200);
    scheduler.run_for(3 * hour);
    EXPECT_EQ(gauges().breakers_open, 0u);
    std::set<std::string> delivered;
    for (const schemas::attempt& one : attempts()) {
        if (one.result != attempt_result::succeeded) continue;
        EXPECT_LE(one.number, 2u) << "a spill uses up no attempt";
        delivered.insert(one.delivery_id);
    }
    EXPECT_EQ(delivered.size(), 30u);
    EXPECT_TRUE(dead().empty());
}

TEST_F(worker_test, what_a_breaker_put_off_flows_as_soon_as_it_closes) {
    write_webhooks(1, 1);
    transport.behave = answers(500);
    start();
    for (int event = 0; event < 600; ++event) {  // ten minutes
        publish({1});
        scheduler.run_for(1 * second);
    }
    ASSERT_EQ(gauges().breakers_open, 1u);
    transport.behave = answers(200);
    const std::size_t before = transport.sent().size();
    while (transport.sent().size() == before) scheduler.run_for(1 * second);  // the probe
    scheduler.run_for(15 * second);
    std::set<std::string> never_failed;
    std::set<std::string> delivered;
    for (const schemas::attempt& one : attempts()) {
        if (one.result == attempt_result::succeeded) delivered.insert(one.delivery_id);
        if (one.result == attempt_result::will_retry) never_failed.insert(one.delivery_id);
    }
    EXPECT_GE(delivered.size(), 600 - never_failed.size()) << "those that failed keep their schedule";
    EXPECT_LT(never_failed.size(), 30u);
}

}  // namespace
}  // namespace herald::test
