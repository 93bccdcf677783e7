// Protects calm changes of a group's members (delivery.md §4 "Pace"): a partition that its group wants back
// is drained before it goes: nothing of it is started any more, what runs may end, and is not repeated.
#include "tests/unit/workers/worker_world.hpp"

namespace herald::test {
namespace {

struct worker_drain_test : worker_test {
    /// A second worker, which owns nothing yet.
    void start_two() {
        start();
        broker.rebalance_by_itself(false);
        other = make_process();
        scheduler.run_for(1 * second);
    }
    void move_to_other() {
        broker.move("herald-events", event_partition, broker.members("herald-events").back());
    }
    bool is_others() {
        return broker.owner("herald-events", event_partition) == broker.members("herald-events").back();
    }
    void answers_after(std::int64_t ms, std::uint16_t status = 200) {
        transport.behave = [ms, status](const sent_request&) {
            return receiver_behaviour{.status = status, .takes_ms = ms};
        };
    }

    std::unique_ptr<worker_process> other;
};

TEST_F(worker_drain_test, a_partition_goes_as_soon_as_its_running_attempts_have_ended_and_none_is_repeated) {
    write_webhooks(1, 3);
    start_two();
    answers_after(1'500);
    publish({1, 2, 3});
    scheduler.run_for(100);
    ASSERT_EQ(transport.running, 3);
    move_to_other();
    scheduler.run_for(1'300);
    EXPECT_FALSE(is_others()) << "attempts are running";
    scheduler.run_for(150);
    EXPECT_TRUE(is_others());
    scheduler.run_for(10 * second);
    EXPECT_EQ(transport.sent().size(), 3u);
    EXPECT_EQ(committed(), 1);
    EXPECT_EQ(other->mine->counters().deliveries, 0u);
}

TEST_F(worker_drain_test, what_waits_in_a_lane_is_left_to_the_next_owner) {
    write_webhooks(1, 1);
    start_two();
    answers_after(500);
    for (int event = 0; event < 5; ++event) publish({1});
    scheduler.run_for(100);
    ASSERT_EQ(transport.sent().size(), 1u) << "the lane begins with one at a time";
    move_to_other();
    scheduler.run_for(450);
    EXPECT_TRUE(is_others());
    EXPECT_EQ(counters().attempts_succeeded, 1u);
    EXPECT_EQ(gauges().deliveries_in_memory, 0u);
    scheduler.run_for(20 * second);
    EXPECT_EQ(other->mine->counters().attempts_succeeded, 4u);
    EXPECT_EQ(transport.sent().size(), 5u);
    EXPECT_EQ(committed(), 5);
}

TEST_F(worker_drain_test, a_partition_waits_no_longer_than_two_seconds) {
    write_webhooks(1, 1);
    start_two();
    answers_after(10 * second);
    publish({1});
    scheduler.run_for(100);
    move_to_other();
    scheduler.run_for(limits::recalled_ms_max - 10);
    EXPECT_FALSE(is_others());
    scheduler.run_for(20);
    EXPECT_TRUE(is_others());
    answers_after(1);
    scheduler.run_for(12 * second);
    EXPECT_EQ(transport.sent().size(), 2u) << "the next owner cannot know how the first one ended";
    EXPECT_EQ(attempts().size(), 2u);
    EXPECT_EQ(committed(), 1);
}

TEST_F(worker_drain_test, a_failed_attempt_reaches_its_retry_topic_before_the_partition_goes) {
    write_webhooks(1, 1);
    start_two();
    answers_after(1'000, 500);
    publish({1});
    scheduler.run_for(100);
    move_to_other();
    scheduler.run_for(950);
    EXPECT_TRUE(is_others());
    EXPECT_EQ(all_of<schemas::delivery>("retry.5s").size(), 1u);
    EXPECT_EQ(committed(), 1);
    EXPECT_EQ(transport.sent().size(), 1u);
}

TEST_F(worker_drain_test, a_change_of_the_group_is_counted) {
    write_webhooks(1, 1);
    start_two();
    const std::uint64_t before = counters().group_changes;
    const std::uint64_t others = other->mine->counters().group_changes;
    move_to_other();
    scheduler.run_for(1 * second);
    EXPECT_EQ(counters().group_changes, before + 1);
    EXPECT_EQ(other->mine->counters().group_changes, others + 1);
}

}  // namespace
}  // namespace herald::test
