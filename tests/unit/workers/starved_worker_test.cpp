// Protects P4 on a worker that is short of CPU (delivery.md §4, "Pace"): it blames no receiver for its own
// lateness, and leaves in the topic what it cannot do.
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/workers/worker_world.hpp"
#include "workers/loop_lateness.hpp"
#include "workers/retry_policy.hpp"

namespace herald::test {
namespace {

using namespace workers;

struct starved_worker : testing::Test, worker_world {
    std::size_t records_in(std::string_view topic) {
        std::size_t found = 0;
        for (std::int32_t partition = 0; partition < events::log::partitions_default; ++partition)
            found += broker.records({std::string(topic), partition}).size();
        return found;
    }
    std::size_t records_in_retry_topics() {
        std::size_t found = 0;
        for (const retry_tier& tier : retry_tiers) found += records_in(tier.topic);
        return found;
    }
    std::size_t delivered() {
        std::set<std::string> ids;
        for (const sent_request& one : transport.sent()) ids.insert(one.headers.at("webhook-id"));
        return ids.size();
    }
    void publish_burst(int events, const std::vector<std::uint64_t>& webhooks) {
        for (int event = 0; event < events; ++event) publish(webhooks);
    }
};

TEST_F(starved_worker, blames_no_receiver_and_leaves_the_backlog_in_its_topic) {
    write_webhooks(1, 8);
    publish_burst(1'000, {1, 2, 3, 4, 5, 6, 7, 8});
    scheduler.throttle(200, 0.12);
    start();
    std::uint64_t in_memory_max = 0;
    std::int64_t took_ms = 0;
    while (counters().attempts_succeeded < 8'000 && took_ms < 120 * second) {
        scheduler.run_for(100);
        took_ms += 100;
        in_memory_max = std::max(in_memory_max, gauges().deliveries_in_memory);
    }
    EXPECT_EQ(delivered(), 8'000u);
    EXPECT_EQ(records_in_retry_topics(), 0u) << "no receiver was slow";
    for (const retry_tier& tier : waiting_tiers)
        if (tier.delay_ms > 0) EXPECT_EQ(records_in(tier.topic), 0u) << tier.topic;
    EXPECT_LT(in_memory_max, 1'000u) << "what it cannot do soon stays where others can take it";
    EXPECT_LT(counters().spilled, 1'250u) << "moving them about costs the CPU that it lacks";
    EXPECT_EQ(counters().attempts_failed, 0u);
    EXPECT_GE(double(scheduler.used_ms()), 0.9 * 0.12 * double(took_ms)) << "it uses its share to the end";
}

TEST_F(starved_worker, finds_out_that_a_receiver_is_slow_all_the_same) {
    write_webhooks(1, 2);
    transport.behave = [](const sent_request& request) {
        return receiver_behaviour{.takes_ms = request.webhook_id.value == 1 ? 500 : 1};
    };
    publish_burst(1'000, {1, 2});
    scheduler.throttle(200, 0.12);
    start();
    scheduler.run_for(30 * second);
    EXPECT_GT(records_in("waiting.5s") + records_in("waiting.1m"), 0u) << "more than 5 s of work for it";
    EXPECT_EQ(records_in_retry_topics(), 0u);
    EXPECT_EQ(transport.sent_to({2}).size(), 1'000u) << "it holds nobody up";
}

TEST_F(starved_worker, that_stood_still_takes_what_was_answered_meanwhile_for_no_failure) {
    write_webhooks(1, 1);
    transport.behave = [](const sent_request&) { return receiver_behaviour{.takes_ms = 20}; };
    start();
    publish_burst(200, {1});
    scheduler.run_for(100);
    scheduler.clock().advance_ms(20 * second);  // stopped, or its machine swaps
    scheduler.run_for(2 * second);
    EXPECT_EQ(delivered(), 200u);
    EXPECT_EQ(records_in_retry_topics() + counters().spilled, 0u);
}

TEST(loop_lateness, counts_only_what_is_late_by_more_than_a_turn_of_the_loop) {
    manual_scheduler scheduler;
    bool has_work = true;
    loop_lateness late(scheduler, [&] { return has_work; });
    late.watch();
    scheduler.run_for(500);
    EXPECT_EQ(late.total_ms(), 0);
    EXPECT_FALSE(late.is_late());
    scheduler.clock().advance_ms(10 + 24);
    scheduler.settle();
    EXPECT_FALSE(late.is_late());
    scheduler.clock().advance_ms(10 + 80);
    EXPECT_EQ(late.total_ms(), 80) << "known before its timer has run";
    EXPECT_TRUE(late.is_late());
    scheduler.run_for(1);
    EXPECT_EQ(late.total_ms(), 80);
    scheduler.run_for(998);
    EXPECT_TRUE(late.is_late());
    scheduler.run_for(2);
    EXPECT_FALSE(late.is_late());
    has_work = false;
    scheduler.run_for(10);
    scheduler.clock().advance_ms(60 * second);
    EXPECT_FALSE(late.is_late()) << "it has nothing to do";
    EXPECT_EQ(late.total_ms(), 80);
}

}  // namespace
}  // namespace herald::test
