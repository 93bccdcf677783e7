// Protects P4 and "Pace" of delivery.md §4: a healthy receiver never has to wait, after a burst, a crash or
// an outage, whatever the others do.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "events/log/limits.hpp"
#include "tests/support/seeded_random.hpp"
#include "tests/unit/workers/worker_world.hpp"
#include "workers/retry_policy.hpp"

namespace herald::test {
namespace {

using namespace workers;

struct pace_test : testing::Test, worker_world {
    std::size_t records_in(std::string_view topic) {
        std::size_t found = 0;
        for (std::int32_t partition = 0; partition < events::log::partitions_default; ++partition)
            found += broker.records({std::string(topic), partition}).size();
        return found;
    }
    std::size_t in_tiers_from(std::size_t lowest) {
        std::size_t found = 0;
        for (std::size_t tier = lowest; tier < retry_tiers.size(); ++tier)
            found += records_in(retry_tiers[tier].topic);
        return found;
    }
    std::size_t delivered_to(std::uint64_t webhook) {
        std::set<std::string> ids;
        for (const sent_request& one : transport.sent())
            if (one.webhook_id.value == webhook) ids.insert(one.headers.at("webhook-id"));
        return ids.size();
    }
    worker_backlog backlog() {
        events::log::partition_ends ends;
        for (const auto& [where, next] : process().mine->positions())
            ends[where] = std::int64_t(broker.records(where).size());
        return process().mine->backlog(ends);
    }
    /// Sets how long answers of these webhooks take; all others take 2 ms.
    void let_take(std::map<std::uint64_t, std::int64_t> ms) {
        transport.behave = [ms = std::move(ms)](const sent_request& request) {
            const auto found = ms.find(request.webhook_id.value);
            return receiver_behaviour{.takes_ms = found == ms.end() ? 2 : found->second};
        };
    }
};

TEST_F(pace_test,
       a_burst_to_receivers_that_are_well_is_delivered_without_a_pause_and_through_no_retry_topic) {
    write_webhooks(1, 10);
    let_take({});
    start();
    for (int event = 0; event < 2'000; ++event) publish({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
    // 20,000 deliveries; ten lanes of 32 could do 160 in a millisecond.
    scheduler.run_for(2 * second);
    for (std::uint64_t id = 1; id <= 10; ++id) EXPECT_EQ(delivered_to(id), 2'000u) << id;
    EXPECT_EQ(in_tiers_from(0), 0u);
    EXPECT_LE(counters().spilled, 20'000u) << "each waits for room once at most";
    EXPECT_EQ(committed(), 2'000);
}

TEST_F(pace_test, a_slow_receiver_whose_backlog_grows_makes_nobody_else_wait) {
    // All are in one partition of `waiting`.
    std::vector<std::uint64_t> mates;
    const auto partition = [](std::uint64_t id) {
        return events::partition_of(events::subscriber_key({id}), events::log::partitions_default);
    };
    for (std::uint64_t id = 1; mates.size() < 3; ++id)
        if (partition(id) == partition(1)) mates.push_back(id);
    for (const std::uint64_t id : mates) write_webhook(webhook(id));
    let_take({{mates[0], 500}, {mates[1], 14 * second}});
    start();
    for (int event = 0; event < 3'000; ++event) publish({mates[0], mates[1]});
    scheduler.run_for(20 * second);
    for (int event = 0; event < 3'000; ++event) publish({mates[2]});
    scheduler.run_for(10 * second);
    EXPECT_EQ(delivered_to(mates[2]), 3'000u);
    scheduler.run_for(80 * second);
    EXPECT_GE(delivered_to(mates[0]), 3'000u) << "64 a second";
}

TEST_F(pace_test, the_backlog_of_a_slow_receiver_flows_without_pauses_and_is_appended_a_few_times) {
    options.concurrency = 1;
    write_webhooks(1, 1);
    let_take({{1, second}});
    start();
    constexpr int backlog = 3'600;  // an hour of work
    for (int event = 0; event < backlog; ++event) publish({1});
    scheduler.run_for(66 * minute);
    EXPECT_EQ(delivered_to(1), std::size_t(backlog));
    EXPECT_LE(counters().spilled + counters().hops, 7u * backlog);
    EXPECT_TRUE(dead().empty());
}

/// Slower than any answer after which a lane counts as troubled (limits::slow_attempt_ms).
class very_slow_receiver : public pace_test, public testing::WithParamInterface<std::int64_t> {};

TEST_P(very_slow_receiver, is_served_without_pauses_and_what_waits_for_it_is_seen_as_backlog) {
    constexpr std::size_t events = 100;
    constexpr int rounds = 8;  // of 1, 2, 4, 8, 16, 32, 32 and 5 at a time
    write_webhooks(1, 1);
    let_take({{1, GetParam()}});
    start();
    for (std::size_t event = 0; event < events; ++event) publish({1});
    scheduler.run_for(100);
    for (std::int64_t passed_ms = 0; counters().attempts_succeeded < events; passed_ms += 100) {
        ASSERT_LE(passed_ms, rounds * (GetParam() + 200)) << delivered_to(1) << " were sent";
        ASSERT_GT(transport.running, 0) << "nothing is under way after " << passed_ms << " ms";
        const worker_backlog seen = backlog();
        ASSERT_EQ(seen.memory + seen.room, events - counters().attempts_succeeded) << passed_ms;
        scheduler.run_for(100);
    }
    EXPECT_EQ(in_tiers_from(0), 0u) << "it did not fail";
    EXPECT_LE(counters().spilled, 10 * events);
}

INSTANTIATE_TEST_SUITE_P(times, very_slow_receiver, testing::Values(4 * second, 13 * second));

TEST_F(pace_test, the_backlog_of_a_very_slow_receiver_is_appended_a_few_times) {
    options.concurrency = 1;
    write_webhooks(1, 1);
    let_take({{1, 10 * second}});
    start();
    constexpr int backlog = 360;  // an hour of work
    for (int event = 0; event < backlog; ++event) publish({1});
    scheduler.run_for(61 * minute);
    EXPECT_EQ(delivered_to(1), std::size_t(backlog));
    EXPECT_EQ(in_tiers_from(0), 0u);
    EXPECT_LE(counters().spilled, 10u * backlog);
}

TEST_F(pace_test, a_failure_between_slow_successes_makes_nobody_wait_for_a_time) {
    write_webhooks(1, 1);
    int answers = 0;
    transport.behave = [&](const sent_request&) {
        const bool fails = ++answers % 10 == 0;
        return receiver_behaviour{.status = std::uint16_t(fails ? 500 : 200), .takes_ms = 3 * second};
    };
    start();
    for (int event = 0; event < 100; ++event) publish({1});
    scheduler.run_for(2 * minute);
    EXPECT_EQ(delivered_to(1), 100u);
    EXPECT_EQ(in_tiers_from(0), counters().retried) << "only what failed";
}

TEST_F(pace_test, what_is_read_ahead_of_a_full_lane_is_bounded_in_bytes) {
    options.concurrency = 1;
    write_webhooks(1, 1);
    let_take({{1, second}});
    start();
    constexpr std::size_t large = 300 * 1024;
    for (int event = 0; event < 100; ++event) {
        schemas::event made = event_for({1});
        made.body = std::string(large, 'x');
        publish(made);
    }
    std::size_t most = 0;
    for (int moment = 0; moment < 400; ++moment) {
        scheduler.run_for(20);
        most = std::max(most, std::size_t(gauges().read_ahead_bytes));
    }
    EXPECT_GT(most, 0u);
    // One each for the events' partition, one of `waiting` and one of each retry topic so far.
    EXPECT_LE(most, 4 * (limits::member_poll_bytes_max + 2 * large));
    scheduler.run_for(3 * minute);
    EXPECT_EQ(delivered_to(1), 100u);
}

TEST_F(pace_test, a_backlog_for_room_does_not_count_towards_the_cap) {
    options.retry_backlog_max = 50;
    options.concurrency = 1;
    write_webhooks(1, 1);
    let_take({{1, second}});
    start();
    for (int event = 0; event < 300; ++event) publish({1});
    scheduler.run_for(8 * minute);
    EXPECT_EQ(delivered_to(1), 300u);
    EXPECT_TRUE(dead().empty());
}

TEST_F(pace_test, what_the_others_had_comes_once_though_a_slow_receiver_holds_the_offset_back) {
    write_webhooks(1, 3);
    transport.behave = [](const sent_request& request) {
        if (request.webhook_id.value == 2) return receiver_behaviour{.takes_ms = 500};
        return receiver_behaviour{.status = std::uint16_t(request.webhook_id.value == 3 ? 500 : 200)};
    };
    start();
    for (int event = 0; event < 1'200; ++event) {
        publish({1, 2, 3});
        scheduler.run_for(8);
        if (event % 400 != 399) continue;
        const std::size_t before = transport.sent_to({1}).size() - delivered_to(1);
        crash();
        start();
        scheduler.run_for(2 * second);
        EXPECT_LT(transport.sent_to({1}).size() - delivered_to(1) - before, 15u);
    }
    EXPECT_EQ(delivered_to(1), 1'200u);
    scheduler.run_for(5 * minute);
    EXPECT_EQ(delivered_to(2), 1'200u);
}

/// Random events: bursts of any size to receivers of any speed, and crashes. Healthy receivers have
/// everything soon after the last one, and none of their deliveries was ever in a topic of more than 5 s.
class random_pace : public pace_test, public testing::WithParamInterface<std::uint64_t> {};

TEST_P(random_pace, receivers_that_are_well_are_never_made_to_wait) {
    test::seeded_random random(GetParam());
    constexpr std::uint64_t webhooks = 8;
    write_webhooks(1, webhooks);
    std::map<std::uint64_t, std::int64_t> takes_ms;
    std::set<std::uint64_t> bad;
    for (std::uint64_t id = 1; id <= webhooks; ++id) {
        takes_ms[id] = 1 + std::int64_t(random.below(20));
        if (random.below(3) == 0) bad.insert(id);
    }
    test::seeded_random whim(GetParam() + 1'000);
    transport.behave = [&](const sent_request& request) {
        const std::uint64_t id = request.webhook_id.value;
        if (!bad.contains(id)) return receiver_behaviour{.takes_ms = takes_ms[id]};
        switch (whim.below(4)) {
            case 0:
                return receiver_behaviour{.takes_ms = 60 * second};
            case 1:
                return receiver_behaviour{.status = 500};
            case 2:
                return receiver_behaviour{.takes_ms = 700};
            default:
                return receiver_behaviour{};
        }
    };
    start();
    std::map<std::uint64_t, std::size_t> expected;
    for (int step = 0; step < 25; ++step) {
        const std::size_t burst = std::size_t(1) << random.below(10);
        for (std::size_t event = 0; event < burst; ++event) {
            std::vector<std::uint64_t> audience;
            for (std::uint64_t id = 1; id <= webhooks; ++id)
                if (random.below(2) == 0) audience.push_back(id);
            for (const std::uint64_t id : audience) ++expected[id];
            publish(audience);
        }
        scheduler.run_for(std::int64_t(random.below(1'500)));
        if (random.below(5) == 0) {
            crash();
            start();
        }
    }
    scheduler.run_for(5 * second);
    for (std::uint64_t id = 1; id <= webhooks; ++id)
        if (!bad.contains(id)) EXPECT_EQ(delivered_to(id), expected[id]) << "webhook " << id;
    for (const retry_tier& tier : retry_tiers)
        if (tier.delay_ms > 5 * second)
            for (const schemas::delivery& one : all_of<schemas::delivery>(tier.topic))
                EXPECT_TRUE(bad.contains(one.webhook_id.value)) << tier.topic;
    EXPECT_EQ(transport.doubled, 0);
}

INSTANTIATE_TEST_SUITE_P(seeds, random_pace, testing::Range<std::uint64_t>(1, 7));

}  // namespace
}  // namespace herald::test
