// Protects P3 when workers come and go and the log fails: nothing is committed before it is done, and nothing
// is done twice except with the same id. Also deliveries that come directly: tests and resends.
#include "workers/worker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "runtime/limits.hpp"
#include "storage/deliveries/limits.hpp"
#include "tests/unit/workers/worker_world.hpp"
#include "workers/fan_out.hpp"
#include "workers/limits.hpp"
#include "workers/retry_policy.hpp"

namespace herald::test {
namespace {

using namespace workers;

using schemas::attempt_result;
using schemas::delivery_source;
using testing::HasSubstr;

struct worker_group_test : testing::Test, worker_world {};

// ---- sequences, restarts, groups

TEST_F(worker_group_test, repeated_events_are_dropped_and_gaps_are_counted) {
    write_webhooks(1, 1);
    start();
    const schemas::event first = publish({1});
    publish(first);
    publish({1});
    publish(first);
    schemas::event after_gap = event_for({1});
    after_gap.partition_sequence = 9;
    publish(after_gap);
    scheduler.run_for(1 * second);
    EXPECT_EQ(transport.sent().size(), 3u);
    EXPECT_EQ(counters().events_repeated, 2u);
    EXPECT_EQ(counters().sequence_gaps, 1u);
    EXPECT_EQ(committed(), 5);
}

TEST_F(worker_group_test, a_restarted_worker_goes_on_from_the_committed_position) {
    write_webhooks(1, 1);
    start();
    const schemas::event first = publish({1});
    publish({1});
    scheduler.run_for(1 * second);
    crash();
    start();
    publish(first);  // a publisher that took over published it again
    publish({1});
    scheduler.run_for(1 * second);
    EXPECT_EQ(transport.sent().size(), 3u);
    EXPECT_EQ(counters().events_repeated, 1u);
    EXPECT_EQ(counters().sequence_gaps, 0u);
}

TEST_F(worker_group_test, a_new_generation_starts_at_one) {
    write_webhooks(1, 1);
    start();
    publish({1});
    schemas::event next = event_for({1});
    next.generation = 2;
    next.partition_sequence = 1;
    publish(next);
    scheduler.run_for(1 * second);
    EXPECT_EQ(transport.sent().size(), 2u);
    EXPECT_EQ(counters().sequence_gaps, 0u);
}

TEST_F(worker_group_test,
       a_worker_killed_between_the_attempt_and_the_commit_delivers_again_with_the_same_id) {
    write_webhooks(1, 1);
    transport.behave = [](const sent_request&) { return receiver_behaviour{.takes_ms = 50}; };
    start();
    publish({1});
    scheduler.run_for(20);
    ASSERT_EQ(transport.sent().size(), 1u);
    crash();
    start();
    scheduler.run_for(1 * second);
    ASSERT_EQ(transport.sent().size(), 2u);
    EXPECT_EQ(transport.sent()[0].headers.at("webhook-id"), transport.sent()[1].headers.at("webhook-id"));
    EXPECT_EQ(committed(), 1);
}

TEST_F(worker_group_test, a_record_that_cannot_be_read_is_passed_over_and_counted) {
    write_webhooks(1, 1);
    start();
    write(event_partition, "5", "\xff\xff\xff");
    write({"deliveries.direct", 3}, "5", std::nullopt);
    publish({1});
    scheduler.run_for(1 * second);
    EXPECT_EQ(counters().unreadable, 2u);
    EXPECT_EQ(transport.sent().size(), 1u);
    EXPECT_EQ(committed(), 2);
}

TEST_F(worker_group_test, a_group_that_is_out_of_range_stops_and_says_so) {
    start();
    scheduler.run_for(1 * second);
    stop();
    publish(event_for({}));
    publish(event_for({}));
    broker.trim(event_partition, 2);
    start();
    scheduler.run_for(1 * second);
    ASSERT_EQ(process().failures.size(), 1u);
    EXPECT_THAT(process().failures[0], HasSubstr("events.promote"));
    ASSERT_TRUE(process().mine->trouble());
    EXPECT_EQ(process().mine->trouble()->reason, "group_failed");
}

TEST_F(worker_group_test, a_worker_without_the_end_of_subscribers_for_eight_seconds_says_so_and_comes_back) {
    const auto trouble = [this] {
        const auto now = process().mine->trouble();
        return now ? now->reason : std::string_view();
    };
    faults.cut_off = true;
    start();
    scheduler.run_for(1 * second);
    EXPECT_EQ(trouble(), "subscribers_unreachable");
    faults.cut_off = false;
    scheduler.run_for(3 * second);
    EXPECT_EQ(trouble(), "");
    scheduler.run_for(60 * second);
    EXPECT_EQ(trouble(), "") << "nothing to read is no trouble";
    faults.cut_off = true;
    scheduler.run_for(limits::unheard_ms_max - 1 * second);
    EXPECT_EQ(trouble(), "");
    scheduler.run_for(2 * second);
    EXPECT_EQ(trouble(), "subscribers_unreachable");
    faults.cut_off = false;
    scheduler.run_for(2 * second);
    EXPECT_EQ(trouble(), "");
    process().mine->drain(limits::drain_ms_max, [] {});
    EXPECT_EQ(trouble(), "draining");
}

TEST_F(worker_group_test,
       on_revocation_attempts_not_on_the_wire_are_cancelled_and_those_that_last_write_only_attempts) {
    write_webhooks(1, 3);
    transport.behave = [](const sent_request& request) {
        receiver_behaviour behaviour{.status = 500, .takes_ms = 4 * second};
        if (request.webhook_id.value == 2) behaviour.on_the_wire_after_ms = 4 * second;
        return behaviour;
    };
    start();
    publish({1, 2, 3});
    publish({3});  // waits behind the first in its lane
    broker.rebalance_by_itself(false);
    auto other = make_process();
    scheduler.run_for(1 * second);
    ASSERT_EQ(transport.sent().size(), 3u);
    broker.move("herald-events", event_partition, broker.members("herald-events").back());
    scheduler.run_for(1 * second);
    EXPECT_EQ(counters().attempts_cancelled, 1u);
    EXPECT_EQ(gauges().attempts_in_flight, 2u);
    scheduler.run_for(2'100);  // longer than the partition waits for them
    EXPECT_EQ(gauges().attempts_in_flight, 0u) << "a cancelled attempt gives its slot back";
    EXPECT_EQ(gauges().deliveries_in_memory, 0u);
    EXPECT_EQ(attempts().size(), 2u) << "of the two that were on the wire";
    EXPECT_TRUE(all_of<schemas::delivery>("retry.5s").empty()) << "their retries are the new owner's";
    scheduler.run_for(10 * second);
    EXPECT_EQ(other->mine->counters().attempts_failed, 4u);
    EXPECT_EQ(all_of<schemas::delivery>("retry.5s").size(), 4u);
    EXPECT_EQ(committed(), 2);
    EXPECT_EQ(other->mine->gauges().deliveries_in_memory, 0u);
}

TEST_F(worker_group_test, a_partition_that_comes_back_does_not_make_two_attempts_of_one_delivery_at_once) {
    write_webhooks(1, 1);
    start();
    for (int event = 0; event < 10; ++event) publish({1});
    scheduler.run_for(1 * second);  // the lane has grown: it would let two start at once
    transport.behave = [](const sent_request&) { return receiver_behaviour{.takes_ms = 5 * second}; };
    publish({1});
    scheduler.run_for(200);
    ASSERT_EQ(transport.running, 1);
    broker.rebalance_by_itself(false);
    broker.move("herald-events", event_partition, broker.members("herald-events")[0]);
    scheduler.run_for(4 * second);
    EXPECT_EQ(transport.sent().size(), 11u) << "the first attempt is still on the wire";
    scheduler.run_for(20 * second);
    EXPECT_EQ(transport.sent().size(), 12u);
    EXPECT_EQ(transport.doubled, 0);
    EXPECT_EQ(attempts().size(), 12u) << "the result of the old epoch is recorded too";
    EXPECT_EQ(committed(), 11);
}

TEST_F(worker_group_test, what_is_done_is_committed_when_its_partition_is_revoked) {
    write_webhooks(1, 1);
    start();
    broker.rebalance_by_itself(false);
    auto other = make_process();
    scheduler.run_for(2 * second);
    publish({1});
    scheduler.run_for(5);
    ASSERT_EQ(transport.sent().size(), 1u);
    broker.move("herald-events", event_partition, broker.members("herald-events").back());
    scheduler.run_for(10 * second);
    EXPECT_EQ(transport.sent().size(), 1u);
    EXPECT_EQ(committed(), 1);
    EXPECT_EQ(other->mine->counters().events, 0u);
}

TEST_F(worker_group_test, an_append_that_fails_is_not_repeated_after_its_partition_was_revoked) {
    write_webhooks(1, 1);
    transport.behave = answers(500);
    faults.fate = [](const events::log::topic_partition& where) {
        return where.topic == "retry.5s" ? events::log::memory::batch_fate::rejected
                                         : events::log::memory::batch_fate::accepted;
    };
    start();
    broker.rebalance_by_itself(false);
    auto other = make_process();
    publish({1});
    scheduler.run_for(2 * second);
    EXPECT_GT(counters().appends_repeated, 0u);
    broker.move("herald-events", event_partition, broker.members("herald-events").back());
    scheduler.run_for(10 * second);
    const std::uint64_t before = counters().appends_repeated;
    scheduler.run_for(30 * second);
    EXPECT_EQ(counters().appends_repeated, before);
    EXPECT_GT(other->mine->counters().appends_repeated, 0u) << "they are the new owner's";
}

// ---- the log's faults

TEST_F(worker_group_test, an_event_is_not_done_before_the_retry_topic_has_acknowledged) {
    write_webhooks(1, 1);
    transport.behave = answers(500);
    bool broken = true;
    faults.fate = [&](const events::log::topic_partition& where) {
        return broken && where.topic == "retry.5s" ? events::log::memory::batch_fate::rejected
                                                   : events::log::memory::batch_fate::accepted;
    };
    start();
    publish({1});
    scheduler.run_for(2 * minute);
    EXPECT_EQ(committed(), 0);
    EXPECT_EQ(transport.sent().size(), 1u);
    broken = false;
    scheduler.run_for(6 * second);
    EXPECT_EQ(committed(), 1);
    EXPECT_GT(counters().appends_repeated, 0u);
    scheduler.run_for(10 * second);
    EXPECT_EQ(transport.sent().size(), 2u);
}

TEST_F(worker_group_test, a_dead_delivery_is_not_done_before_it_is_kept) {
    write_webhooks(1, 1);
    transport.behave = answers(410);
    bool broken = true;
    faults.fate = [&](const events::log::topic_partition& where) {
        return broken && where.topic == "dead" ? events::log::memory::batch_fate::rejected
                                               : events::log::memory::batch_fate::accepted;
    };
    start();
    publish({1});
    scheduler.run_for(1 * minute);
    EXPECT_EQ(committed(), 0);
    broken = false;
    scheduler.run_for(6 * second);
    EXPECT_EQ(committed(), 1);
    EXPECT_EQ(dead().size(), 1u);
}

TEST_F(worker_group_test, records_of_attempts_are_given_up_after_a_few_tries_and_hold_up_nothing) {
    write_webhooks(1, 1);
    faults.fate = [](const events::log::topic_partition& where) {
        return where.topic == "attempts" ? events::log::memory::batch_fate::rejected
                                         : events::log::memory::batch_fate::accepted;
    };
    transport.behave = answers(500);  // the record of a delivery's end is never given up
    start();
    publish({1});
    scheduler.run_for(1 * second);
    EXPECT_EQ(committed(), 1);
    scheduler.run_for(4 * second);
    EXPECT_EQ(transport.sent().size(), 1u);
    scheduler.run_for(25 * second);
    EXPECT_GE(counters().attempt_records_lost, 1u);
}

TEST_F(worker_group_test, a_full_window_pauses_its_partition_and_no_other) {
    write_webhooks(1, 2);
    faults.fate = [](const events::log::topic_partition& where) {
        const bool puts_off = where.topic.starts_with("retry.") || where.topic == "waiting";
        return puts_off ? events::log::memory::batch_fate::rejected
                        : events::log::memory::batch_fate::accepted;
    };
    transport.behave = [](const sent_request& request) {
        return receiver_behaviour{.status = std::uint16_t(request.webhook_id.value == 1 ? 500 : 200)};
    };
    start();
    for (int event = 0; event < 6'000; ++event) publish({1});
    scheduler.run_for(10 * second);
    EXPECT_LE(gauges().deliveries_in_memory, limits::worker_window_max);
    EXPECT_EQ(counters().events, limits::worker_window_max);
    schemas::event elsewhere = event_for({2});
    elsewhere.partition_sequence = 1;
    write({"events.promote", 1}, "6", schemas::encode(elsewhere));
    scheduler.run_for(1 * second);
    EXPECT_EQ(transport.sent_to({2}).size(), 1u);
    faults.fate = nullptr;
    scheduler.run_for(30 * second);
    EXPECT_EQ(counters().events, 6'001u) << "the rest came when there was room";
}

// ---- direct deliveries

TEST_F(worker_group_test, a_test_is_attempted_once_and_changes_nothing) {
    write_webhooks(1, 1);
    transport.behave = answers(500);
    start();
    for (int round = 0; round < 15; ++round) {
        write_direct(direct(1, delivery_source::test));
        scheduler.run_for(1 * second);
    }
    scheduler.leap_for(48 * hour);
    EXPECT_EQ(transport.sent().size(), 15u);
    EXPECT_EQ(transport.sent()[0].headers.at("svc-test"), "true");
    EXPECT_EQ(gauges().breakers_open, 0u);
    EXPECT_TRUE(dead().empty());
    ASSERT_EQ(attempts().size(), 15u);
    EXPECT_EQ(attempts()[0].call_id, "call-1");
    EXPECT_EQ(attempts()[0].status, 500);
    EXPECT_EQ(attempts()[0].result, attempt_result::dead);
    EXPECT_EQ(attempts()[0].source, delivery_source::test);
    EXPECT_EQ(committed({"deliveries.direct", 0}), 15);
}

TEST_F(worker_group_test, a_test_answered_with_gone_or_retry_after_disables_and_parks_nothing) {
    write_webhooks(1, 1);
    start();
    transport.behave = answers(410);
    write_direct(direct(1, delivery_source::test));
    scheduler.run_for(1 * second);
    transport.behave = [](const sent_request&) {
        return receiver_behaviour{.status = 429, .headers = {{"retry-after", "600"}}};
    };
    write_direct(direct(1, delivery_source::test));
    scheduler.run_for(1 * second);
    for (const schemas::attempt& one : attempts()) EXPECT_FALSE(one.disable_webhook);
    transport.behave = answers(200);
    publish({1});
    scheduler.run_for(1 * second);
    EXPECT_EQ(transport.sent().size(), 3u);
}

TEST_F(worker_group_test, a_test_that_comes_after_its_deadline_is_recorded_as_a_time_out_and_not_sent) {
    write_webhooks(1, 1);
    schemas::delivery late = direct(1, delivery_source::test);
    write_direct(late);
    scheduler.run_for(limits::test_deadline_ms);
    start();
    scheduler.run_for(1 * second);
    EXPECT_TRUE(transport.sent().empty());
    ASSERT_EQ(attempts().size(), 1u);
    EXPECT_EQ(attempts()[0].error, schemas::delivery_error::timeout);
    EXPECT_EQ(attempts()[0].number, 0u);
    EXPECT_EQ(attempts()[0].call_id, late.call_id);
    EXPECT_EQ(committed({"deliveries.direct", 0}), 1);
}

TEST_F(worker_group_test, a_test_of_a_webhook_that_never_comes_ends_at_its_deadline) {
    start();
    write_direct(direct(9, delivery_source::test));
    scheduler.run_for(limits::test_deadline_ms - 2 * second);
    EXPECT_TRUE(attempts().empty());
    scheduler.run_for(4 * second);
    ASSERT_EQ(attempts().size(), 1u);
    EXPECT_EQ(attempts()[0].error, schemas::delivery_error::timeout);
}

TEST_F(worker_group_test, a_test_does_not_wait_behind_hanging_deliveries) {
    write_webhooks(1, 1);
    transport.behave = [](const sent_request& request) {
        return receiver_behaviour{.takes_ms = request.headers.contains("svc-test") ? 5 : 60 * second};
    };
    start();
    for (int event = 0; event < 20; ++event) publish({1});
    write_direct(direct(1, delivery_source::test));
    scheduler.run_for(500);
    ASSERT_EQ(attempts().size(), 1u);
    EXPECT_EQ(attempts()[0].result, attempt_result::succeeded);
}

TEST_F(worker_group_test, a_read_is_attempted_once_and_kept_nowhere) {
    write_webhooks(1, 1);
    transport.behave = answers(500);
    start();
    write_direct(read_of(1));
    scheduler.leap_for(24 * hour);
    EXPECT_EQ(transport.sent().size(), 1u);
    ASSERT_EQ(attempts().size(), 1u);
    EXPECT_EQ(attempts()[0].result, attempt_result::dead);
    EXPECT_TRUE(dead().empty());
    EXPECT_EQ(counters().retried, 0u);
    EXPECT_EQ(committed({"deliveries.direct", 0}), 1);
}

TEST_F(worker_group_test, a_read_is_dropped_when_it_is_late_or_its_webhook_rests_or_is_off) {
    write_webhooks(1, 1);
    schemas::subscriber off = webhook(2);
    off.enabled = false;
    write_webhook(off);
    write_direct(read_of(1));
    scheduler.run_for(limits::read_event_deadline_ms);
    start();
    write_direct(read_of(2));
    scheduler.run_for(1 * second);
    EXPECT_TRUE(transport.sent().empty());
    EXPECT_EQ(counters().dropped, 2u);
    transport.behave = answers(500);
    for (int event = 0; event < 12; ++event) {
        publish({1});
        scheduler.run_for(100);
    }
    EXPECT_EQ(gauges().breakers_open, 1u);
    write_direct(read_of(1));
    scheduler.run_for(1 * second);
    EXPECT_EQ(counters().dropped, 3u);
    EXPECT_EQ(committed({"deliveries.direct", 0}), 3);
    EXPECT_EQ(gauges().deliveries_in_memory, 0u);
}

TEST_F(worker_group_test, a_resend_has_the_same_id_and_is_retried_like_any_delivery) {
    write_webhooks(1, 1);
    transport.behave = answers(500);
    start();
    const schemas::delivery again = direct(1, delivery_source::resend);
    write_direct(again);
    scheduler.leap_for(120 * hour);
    EXPECT_EQ(transport.sent().size(), 11u);
    EXPECT_EQ(transport.sent()[0].headers.at("webhook-id"), schemas::delivery_id(again.event.id, {1}));
    EXPECT_EQ(dead().size(), 1u);
    EXPECT_EQ(attempts()[0].call_id, again.call_id);
}

TEST_F(worker_group_test, after_an_attempt_spills_start_at_the_lowest_tier_again) {
    write_webhooks(1, 1);
    transport.behave = answers(500);
    start();
    schemas::delivery spilled = direct(1, delivery_source::resend);
    spilled.spills = 3;
    write_direct(spilled);
    scheduler.run_for(1 * second);
    const auto waiting = all_of<schemas::delivery>("retry.5s");
    ASSERT_EQ(waiting.size(), 1u);
    EXPECT_EQ(waiting[0].spills, 0u);
}

}  // namespace
}  // namespace herald::test
