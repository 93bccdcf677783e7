// Protects what is sent again (wire.md §7 "Deliveries"): a resend is attempted at once and counts on, a
// failure of what waits anyway makes no second chain of retries, a replay waits behind live deliveries, and
// what a delivery ended with is in the log before the delivery is done.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/workers/worker_world.hpp"

namespace herald::test {
namespace {

using schemas::attempt_result;
using schemas::delivery_source;

TEST_F(worker_test, a_resend_counts_on_and_its_retries_begin_a_schedule_of_their_own) {
    write_webhooks(1, 1);
    transport.behave = answers(500);
    start();
    schemas::delivery again = direct(1, delivery_source::resend);
    again.attempts_before = 11;
    write_direct(again);
    scheduler.run_for(6 * second);
    ASSERT_EQ(transport.sent().size(), 2u);
    EXPECT_EQ(transport.sent()[0].headers.at("svc-attempt"), "12");
    EXPECT_EQ(transport.sent()[1].headers.at("svc-attempt"), "13");
    EXPECT_EQ(attempts()[1].number, 13u);
    EXPECT_EQ(attempts()[1].result, attempt_result::will_retry);
}

TEST_F(worker_test, only_the_first_attempt_of_a_resend_passes_an_open_breaker) {
    write_webhooks(1, 1);
    transport.behave = answers(500);
    start();
    for (int i = 0; i < 10; ++i) publish({1});
    scheduler.run_for(1 * second);
    ASSERT_EQ(gauges().breakers_open, 1u);
    const std::size_t before = transport.sent().size();
    const schemas::delivery again = direct(1, delivery_source::resend);
    write_direct(again);
    scheduler.run_for(8 * second);
    std::size_t tried = 0;
    for (std::size_t i = before; i < transport.sent().size(); ++i)
        if (transport.sent()[i].headers.at("svc-event-id") == again.event.id) ++tried;
    EXPECT_EQ(tried, 1u) << "its retry waits until the breaker admits somebody";
}

TEST_F(worker_test, what_waits_anyway_is_tried_once_beside_its_schedule) {
    write_webhooks(1, 1);
    transport.behave = answers(500);
    start();
    schemas::delivery again = direct(1, delivery_source::resend);
    again.is_extra = true;
    write_direct(again);
    scheduler.run_for(1 * hour);
    EXPECT_EQ(transport.sent().size(), 1u);
    ASSERT_EQ(attempts().size(), 1u);
    EXPECT_EQ(attempts()[0].result, attempt_result::will_retry);
    EXPECT_TRUE(attempts()[0].is_extra);
    EXPECT_TRUE(dead().empty());
    EXPECT_EQ(gauges().deliveries_in_memory, 0u);
}

TEST_F(worker_test, an_attempt_says_of_which_event_and_which_replay_it_is) {
    write_webhooks(1, 1);
    start();
    schemas::delivery again = direct(1, delivery_source::replay);
    again.replay_id = 7;
    write({"deliveries.replay", 0}, "1", schemas::encode(again));
    scheduler.run_for(1 * second);
    ASSERT_EQ(attempts().size(), 1u);
    EXPECT_EQ(attempts()[0].replay_id, 7u);
    EXPECT_EQ(attempts()[0].time_event_ms, again.event.time_ms);
}

TEST_F(worker_test, replays_wait_in_their_topic_while_live_deliveries_come) {
    write_webhooks(1, 1);
    transport.behave = [](const sent_request&) { return receiver_behaviour{.takes_ms = 100}; };
    start();
    for (int i = 0; i < 300; ++i) {
        schemas::delivery again = direct(1, delivery_source::replay);
        write({"deliveries.replay", 0}, "1", schemas::encode(again));
    }
    scheduler.run_for(1 * second);
    const std::size_t before = transport.sent().size();
    for (int i = 0; i < 50; ++i) publish({1});
    scheduler.run_for(10 * second);
    std::size_t live_done = 0, replays_among = 0;
    for (std::size_t i = before; i < transport.sent().size() && live_done < 50; ++i)
        ++(transport.sent()[i].headers.at("svc-event-id").starts_with("direct-") ? replays_among : live_done);
    EXPECT_EQ(live_done, 50u);
    EXPECT_LE(replays_among, 2u) << "only what was under way";
    for (const std::string_view topic : {"waiting", "waiting.5s", "waiting.1m", "retry.5s"})
        EXPECT_TRUE(all_of<schemas::delivery>(topic).empty()) << topic << " holds what delays live ones";
    scheduler.run_for(2 * minute);
    std::set<std::string> events;
    for (const sent_request& one : transport.sent()) events.insert(one.headers.at("svc-event-id"));
    EXPECT_EQ(events.size(), 350u);
}

TEST_F(worker_test, a_delivery_is_done_only_when_the_record_of_its_end_is_in_the_log) {
    write_webhooks(1, 1);
    faults.fate = [](const events::log::topic_partition& where) {
        return where.topic == "attempts" ? events::log::memory::batch_fate::not_sent
                                         : events::log::memory::batch_fate::accepted;
    };
    start();
    publish({1});
    scheduler.run_for(1 * second);
    EXPECT_EQ(transport.sent().size(), 1u);
    EXPECT_EQ(committed(), 0) << "nobody could count it";
    faults.fate = nullptr;
    scheduler.run_for(10 * second);
    EXPECT_EQ(committed(), 1);
    ASSERT_EQ(attempts().size(), 1u);
    EXPECT_EQ(attempts()[0].result, attempt_result::succeeded);
    EXPECT_EQ(transport.sent().size(), 1u);
}

}  // namespace
}  // namespace herald::test
