// Protects the schedule of delivery.md §4: when a failed delivery is tried again, and through which topics it
// waits.
#include "workers/retry_policy.hpp"
#include "tests/support/seeded_random.hpp"

#include <gtest/gtest.h>

#include <set>

namespace herald::test {
namespace {

using namespace workers;

constexpr std::int64_t second = 1'000;
constexpr std::int64_t minute = 60 * second;
constexpr std::int64_t hour = 60 * minute;

TEST(retry_policy, ten_waits_grow_to_a_day_and_then_the_delivery_is_dead) {
    test::seeded_random random(1);
    const std::int64_t expected[] = {5 * second, 30 * second, 5 * minute, 30 * minute, 2 * hour,
                                     5 * hour,   10 * hour,   14 * hour,  20 * hour,   24 * hour};
    std::uint32_t attempts = 0;
    for (const std::int64_t wait : expected) {
        const auto got = wait_after(default_retry_schedule_ms, ++attempts, random);
        ASSERT_TRUE(got) << attempts;
        EXPECT_GE(*got, wait);
        EXPECT_LE(*got, wait + wait / 5) << "jitter is at most a fifth";
    }
    EXPECT_EQ(attempts, 10u);
    EXPECT_FALSE(wait_after(default_retry_schedule_ms, 11, random));
}

TEST(retry_policy, another_schedule_has_waits_and_an_end_of_its_own) {
    test::seeded_random random(5);
    const std::array<std::int64_t, 2> schedule{30 * second, 10 * second};
    EXPECT_EQ(wait_after(schedule, 1, random), 30 * second);
    EXPECT_EQ(wait_after(schedule, 2, random), 10 * second);
    EXPECT_EQ(wait_after(schedule, 3, random), std::nullopt);
}

TEST(retry_policy, the_first_two_waits_have_no_jitter) {
    test::seeded_random random(2);
    for (int round = 0; round < 200; ++round) {
        EXPECT_EQ(wait_after(default_retry_schedule_ms, 1, random), 5 * second);
        EXPECT_EQ(wait_after(default_retry_schedule_ms, 2, random), 30 * second);
    }
}

TEST(retry_policy, jitter_is_whole_steps_of_the_next_lower_tier_and_reaches_both_ends) {
    test::seeded_random random(3);
    const auto waits = [&](std::uint32_t attempts) {
        std::set<std::int64_t> seen;
        for (int round = 0; round < 2'000; ++round)
            seen.insert(*wait_after(default_retry_schedule_ms, attempts, random));
        return seen;
    };
    EXPECT_EQ(waits(3), (std::set<std::int64_t>{300 * second, 330 * second, 360 * second}));
    EXPECT_EQ(waits(10), (std::set<std::int64_t>{24 * hour, 25 * hour, 26 * hour, 27 * hour, 28 * hour}));
}

TEST(retry_policy, a_day_is_four_hops_of_six_hours) {
    std::int64_t wait = 24 * hour;
    for (int hop = 0; hop < 4; ++hop) {
        const auto next = next_hop(wait);
        ASSERT_TRUE(next);
        EXPECT_EQ(retry_tiers[next->tier].topic, "retry.6h");
        wait = next->wait_left_ms;
    }
    EXPECT_FALSE(next_hop(wait)) << "due now";
}

TEST(retry_policy, every_wait_is_made_in_few_hops_that_add_up_to_it) {
    test::seeded_random random(4);
    for (std::uint32_t attempts = 1; attempts <= 10; ++attempts) {
        for (int round = 0; round < 100; ++round) {
            const std::int64_t wait = *wait_after(default_retry_schedule_ms, attempts, random);
            std::int64_t waited = 0;
            std::int64_t left = wait;
            int hops = 0;
            while (const auto hop = next_hop(left)) {
                waited += retry_tiers[hop->tier].delay_ms;
                left = hop->wait_left_ms;
                ++hops;
            }
            EXPECT_EQ(waited, wait);
            EXPECT_LE(hops, 17) << wait;
        }
    }
}

TEST(retry_policy, a_rest_below_five_seconds_is_due_now) {
    EXPECT_FALSE(next_hop(4'999));
    EXPECT_FALSE(next_hop(-1));
    EXPECT_EQ(next_hop(5'000), (retry_hop{0, 0}));
    EXPECT_EQ(next_hop(34'999), (retry_hop{1, 4'999}));
}

TEST(retry_policy, a_delivery_whose_receiver_is_in_trouble_is_put_off_for_half_a_minute_at_most) {
    EXPECT_EQ(wait_of_troubled(0), 5'000);
    EXPECT_EQ(wait_of_troubled(1), 30'000);
    EXPECT_EQ(wait_of_troubled(1'000'000), 30'000);
}

TEST(retry_policy, a_record_waits_from_its_append_but_never_longer_than_the_delay_from_now) {
    EXPECT_EQ(still_to_wait_ms(100'000, 30'000, 110'000), 20'000);
    EXPECT_EQ(still_to_wait_ms(100'000, 30'000, 500'000), 0) << "long due";
    EXPECT_EQ(still_to_wait_ms(900'000'000, 30'000, 100'000), 30'000) << "the broker's clock is days ahead";
}

TEST(retry_policy, tiers_are_the_retry_topics_from_short_to_long) {
    std::int64_t before = 0;
    for (std::size_t tier = 0; tier < retry_tiers.size(); ++tier) {
        EXPECT_GT(retry_tiers[tier].delay_ms, before);
        EXPECT_EQ(delay_of(retry_tiers[tier].topic), retry_tiers[tier].delay_ms);
        EXPECT_NE(events::log::find_topic(retry_tiers[tier].topic), nullptr);
        before = retry_tiers[tier].delay_ms;
    }
    EXPECT_EQ(delay_of("dead"), 0);
}

TEST(retry_policy, what_waits_for_room_goes_to_the_longest_topic_that_is_not_longer_than_its_wait) {
    EXPECT_EQ(waiting_topic_for(0), "waiting");
    EXPECT_EQ(waiting_topic_for(4'999), "waiting");
    EXPECT_EQ(waiting_topic_for(5'000), "waiting.5s");
    EXPECT_EQ(waiting_topic_for(59'999), "waiting.5s");
    EXPECT_EQ(waiting_topic_for(60'000), "waiting.1m");
    EXPECT_EQ(waiting_topic_for(599'999), "waiting.1m");
    EXPECT_EQ(waiting_topic_for(INT64_MAX), "waiting.10m");
    for (const retry_tier& tier : waiting_tiers) {
        EXPECT_EQ(delay_of(tier.topic), tier.delay_ms);
        EXPECT_EQ(events::log::find_topic(tier.topic)->group, events::log::group::waiting);
    }
}

}  // namespace
}  // namespace herald::test
