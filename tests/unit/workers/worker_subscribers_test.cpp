// Protects P3 over the whole worker: an attempt is made by the row of its webhook as it is now, and waits
// until the table of subscribers has it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/workers/worker_world.hpp"

namespace herald::test {
namespace {

using namespace workers;

using schemas::attempt_result;
using schemas::delivery_source;

TEST_F(worker_test, an_unknown_webhook_waits_for_the_table_alone) {
    write_webhooks(1, 1);
    start();
    publish({9, 1});
    publish({1});
    scheduler.run_for(1 * second);
    EXPECT_EQ(transport.sent_to({1}).size(), 2u) << "others go on";
    EXPECT_EQ(committed(), 0) << "the first event is not done";
    EXPECT_EQ(gauges().waiting_for_row, 1u);
    write_webhook(webhook(9, 50));
    scheduler.run_for(1 * second);
    EXPECT_EQ(transport.sent_to({9}).size(), 1u);
    EXPECT_EQ(committed(), 2);
    EXPECT_EQ(gauges().waiting_for_row, 0u);
}

TEST_F(worker_test, an_unknown_webhook_that_stays_so_goes_to_a_retry_topic_and_waits_there) {
    start();
    publish({9});
    scheduler.run_for(10 * second);
    EXPECT_EQ(committed(), 1);
    EXPECT_EQ(all_of<schemas::delivery>("retry.5s").size(), 1u);
    write_webhook(webhook(9, 50));
    scheduler.run_for(1 * minute);
    EXPECT_EQ(transport.sent_to({9}).size(), 1u);
}

TEST_F(worker_test, an_unknown_webhook_was_deleted_when_the_head_is_past_the_event) {
    start();
    write_head(100);
    publish({9});
    scheduler.run_for(1 * second);
    EXPECT_EQ(committed(), 1);
    ASSERT_EQ(attempts().size(), 1u);
    EXPECT_EQ(attempts()[0].result, attempt_result::skipped);
    EXPECT_TRUE(transport.sent().empty());
}

TEST_F(worker_test, an_attempt_waits_until_the_table_has_the_revision_that_was_seen_before) {
    write_webhook(webhook(1, 10));
    start();
    schemas::delivery seen = direct(1, delivery_source::resend);
    seen.revision_seen = 20;
    write_direct(seen);
    scheduler.run_for(2 * second);
    EXPECT_TRUE(transport.sent().empty());
    write_webhook(webhook(1, 20));
    scheduler.run_for(100);
    ASSERT_EQ(transport.sent().size(), 1u);
    EXPECT_EQ(transport.sent()[0].location, "https://receiver-1.example/20");
}

TEST_F(worker_test, an_event_from_after_a_change_of_its_webhook_is_not_sent_to_the_old_place) {
    write_webhook(webhook(1, 10));
    start();
    schemas::event event = event_for({});
    event.audience = {{{1}, false, 90}};
    publish(event);
    scheduler.run_for(2 * second);
    EXPECT_TRUE(transport.sent().empty());
    write_webhook(webhook(1, 90));
    scheduler.run_for(100);
    ASSERT_EQ(transport.sent().size(), 1u);
    EXPECT_EQ(transport.sent()[0].location, "https://receiver-1.example/90");
}

TEST_F(worker_test, without_contact_to_the_table_for_thirty_seconds_no_attempt_starts) {
    write_webhooks(1, 1);
    transport.behave = answers(500);
    start();
    publish({1});
    scheduler.run_for(2 * second);  // the second attempt is due in memory soon
    ASSERT_EQ(transport.sent().size(), 1u);
    schemas::subscriber moved = webhook(1, 50);
    faults.cut_off = true;
    scheduler.run_for(40 * second);
    const std::size_t before = transport.sent().size();
    write_webhook(moved);
    scheduler.run_for(10 * minute);
    EXPECT_EQ(transport.sent().size(), before);
    faults.cut_off = false;
    scheduler.run_for(1 * minute);
    ASSERT_GT(transport.sent().size(), before);
    EXPECT_EQ(transport.sent()[before].location, "https://receiver-1.example/50");
}

TEST_F(worker_test, an_attempt_that_is_due_just_after_those_thirty_seconds_does_not_start) {
    write_webhooks(1, 1);
    transport.behave = answers(500);
    start();
    scheduler.run_for(300);
    publish({1});
    scheduler.run_for(5'100);  // the second attempt has failed; the third is due in 30 s, between two ticks
    ASSERT_EQ(transport.sent().size(), 2u);
    faults.cut_off = true;
    scheduler.run_for(10 * minute);
    EXPECT_EQ(transport.sent().size(), 2u);
    faults.cut_off = false;
    scheduler.run_for(2 * second);
    EXPECT_EQ(transport.sent().size(), 3u);
}

}  // namespace
}  // namespace herald::test
