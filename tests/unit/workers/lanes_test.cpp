// Protects P4: a slow, hanging or dead receiver delays nobody else, and every delivery leaves its lane.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "tests/support/seeded_random.hpp"
#include "tests/unit/workers/lane_actions.hpp"
#include "workers/limits.hpp"

namespace herald::test {
namespace {

using namespace workers;

/// Fails deliveries of `webhook` until its breaker opens; uses keys from 900 on.
void open_breaker(lanes& subject, schemas::webhook_id webhook, std::int64_t now_ms) {
    for (delivery_key key = 900; key < 910; ++key) {
        ASSERT_EQ(subject.offer(webhook, {key, live}, now_ms), actions{start(key)});
        subject.finished(webhook, key, receiver_state::failing, now_ms);
    }
    ASSERT_EQ(subject.open_breakers().size(), 1u);
}

TEST(lanes, a_lane_starts_with_one_attempt_at_a_time_and_grows_on_success) {
    lanes subject;
    EXPECT_EQ(subject.offer(a, {1, live}, t0), actions{start(1)});
    for (delivery_key key = 2; key <= 40; ++key) EXPECT_EQ(subject.offer(a, {key, live}, t0), actions{});
    EXPECT_EQ(subject.finished(a, 1, receiver_state::well, t0), (actions{start(2), start(3)}));
    EXPECT_EQ(subject.finished(a, 2, receiver_state::well, t0), (actions{start(4), start(5)}));
    delivery_key next = 3;
    while (next < 40) subject.finished(a, next++, receiver_state::well, t0);
    lanes wide;
    wide.offer(b, {1, live}, t0);
    for (delivery_key key = 2; key <= 200; ++key) wide.offer(b, {key, live}, t0);
    for (delivery_key key = 1; key <= 60; ++key) {
        wide.finished(b, key, receiver_state::well, t0);
        EXPECT_LE(wide.in_flight(), limits::lane_concurrency_max);
    }
    EXPECT_EQ(wide.in_flight(), limits::lane_concurrency_max);
}

TEST(lanes, a_failure_halves_the_concurrency_and_an_overloaded_receiver_gets_one_at_a_time) {
    for (const auto& [state, left] :
         {std::pair{receiver_state::failing, 4u}, {receiver_state::overloaded, 1u}}) {
        lanes subject;
        for (delivery_key key = 1; key <= 200; ++key) subject.offer(a, {key, live}, t0);
        delivery_key next = 1;
        while (subject.in_flight() < 8) subject.finished(a, next++, receiver_state::well, t0);
        subject.finished(a, next++, state, t0);
        subject.finished(a, next++, receiver_state::failing, t0 + 1);  // of the same round trip
        while (subject.in_flight() > left)
            EXPECT_EQ(subject.finished(a, next++, receiver_state::unknown, t0), actions{});
        EXPECT_EQ(subject.finished(a, next, receiver_state::unknown, t0).size(), 1u)
            << "one for one from now on";
    }
}

TEST(lanes, a_full_lane_spills_what_comes_and_keeps_what_it_has) {
    lanes subject({.slots = 8, .depth = 2, .concurrency = 8});
    EXPECT_EQ(subject.offer(a, {1, live}, t0), actions{start(1)});
    EXPECT_EQ(subject.offer(a, {2, live}, t0), actions{});
    EXPECT_EQ(subject.offer(a, {3, live}, t0), actions{});
    EXPECT_EQ(subject.offer(a, {4, live}, t0), actions{spill(4, spill_reason::no_room)});
    EXPECT_EQ(subject.offer(b, {5, live}, t0), actions{start(5)}) << "the others are not concerned";
}

TEST(lanes, large_deliveries_fill_a_lane_sooner_but_one_of_any_size_may_wait) {
    lanes subject({.slots = 8, .depth = 256, .bytes = 1'000, .concurrency = 8});
    EXPECT_EQ(subject.offer(a, {1, live, 5'000}, t0), actions{start(1)});
    EXPECT_EQ(subject.offer(a, {2, live, 5'000}, t0), actions{});
    EXPECT_EQ(subject.offer(a, {3, live, 1}, t0), actions{spill(3, spill_reason::no_room)});
    subject.withdraw(a, 2);
    EXPECT_EQ(subject.offer(a, {4, live, 600}, t0), actions{});
    EXPECT_EQ(subject.offer(a, {5, live, 400}, t0), actions{});
    EXPECT_EQ(subject.offer(a, {6, live, 1}, t0), actions{spill(6, spill_reason::no_room)});
}

TEST(lanes, a_webhook_with_its_share_of_the_window_may_start_but_not_wait) {
    lanes subject;
    EXPECT_EQ(subject.offer(a, {.delivery = 1, .over_share = true}, t0), actions{start(1)});
    EXPECT_EQ(subject.offer(a, {.delivery = 2}, t0), actions{});
    EXPECT_EQ(subject.offer(a, {.delivery = 3, .over_share = true}, t0),
              actions{spill(3, spill_reason::no_room)});
}

TEST(lanes, where_slots_are_scarce_no_lane_takes_many) {
    lanes subject({.slots = 32});
    delivery_key key = 0;
    for (int some = 0; some < 400; ++some) subject.offer(a, {++key, live}, t0);
    delivery_key next = 1;
    while (next < 200) subject.finished(a, next++, receiver_state::well, t0);
    EXPECT_EQ(subject.in_flight(), 16u) << "half of all";
    for (int some = 0; some < 16; ++some) {
        ++key;
        EXPECT_EQ(subject.offer({std::uint64_t(100 + some)}, {key, live}, t0), actions{start(key)});
    }
}

TEST(lanes, what_waits_too_long_is_spilled) {
    lanes subject;
    subject.offer(a, {1, live}, t0);
    subject.offer(a, {2, live}, t0);
    subject.offer(a, {3, live}, t0 + 3'000);
    EXPECT_EQ(subject.tick(t0 + 5'000), actions{});
    EXPECT_EQ(subject.tick(t0 + 5'001), actions{spill(2, spill_reason::no_room, 60'000)});
    EXPECT_EQ(subject.tick(t0 + 8'001), actions{spill(3, spill_reason::no_room, 60'000)});
}

TEST(lanes, troubled_lanes_share_half_of_the_slots_however_many_they_are) {
    lanes subject({.slots = 8, .depth = 16, .concurrency = 8});
    delivery_key key = 0;
    // Twenty receivers that fail once and then hang.
    for (std::uint64_t webhook = 100; webhook < 120; ++webhook) {
        subject.offer({webhook}, {++key, live}, t0);
        subject.finished({webhook}, key, receiver_state::failing, t0);
    }
    std::size_t started = 0;
    for (std::uint64_t webhook = 100; webhook < 120; ++webhook)
        started += subject.offer({webhook}, {++key, live}, t0).size();
    EXPECT_EQ(started, 4u) << "half of eight";
    for (int round = 0; round < 100; ++round) {
        ++key;
        EXPECT_EQ(subject.offer(a, {key, live}, t0), actions{start(key)})
            << "a healthy lane always gets a slot";
        subject.finished(a, key, receiver_state::well, t0);
    }
}

TEST(lanes, an_attempt_that_hangs_makes_its_lane_troubled_before_it_ends) {
    lanes subject({.slots = 4, .depth = 16, .concurrency = 8});
    for (const schemas::webhook_id webhook : {a, b}) {
        subject.offer(webhook, {webhook.value, live}, t0);
        subject.finished(webhook, webhook.value, receiver_state::well, t0);
    }
    subject.offer(c, {3, live}, t0);
    subject.finished(c, 3, receiver_state::failing, t0);
    subject.offer(a, {11, live}, t0);
    subject.offer(a, {12, live}, t0);
    ASSERT_EQ(subject.in_flight(), 2u);
    subject.tick(t0 + 2'001);
    EXPECT_EQ(subject.offer(c, {13, live}, t0 + 2'001), actions{})
        << "both of a's hang and are half of the slots";
    EXPECT_EQ(subject.offer(b, {14, live}, t0 + 2'001), actions{start(14)})
        << "the other half is for the healthy";
    EXPECT_EQ(subject.finished(a, 11, receiver_state::well, t0 + 2'002), actions{start(13)});
}

TEST(lanes, receivers_that_were_well_and_then_all_hang_at_once_leave_slots_to_others) {
    lanes subject({.slots = 8, .depth = 16, .concurrency = 8});
    delivery_key key = 0;
    for (std::uint64_t webhook = 100; webhook < 108; ++webhook)
        ASSERT_EQ(subject.offer({webhook}, {++key, live}, t0).size(), 1u);
    EXPECT_EQ(subject.offer(a, {11, live}, t0), actions{}) << "nobody can know yet";
    EXPECT_EQ(subject.tick(t0 + 2'001), actions{start(11)});
    for (std::uint64_t webhook = 200; webhook < 203; ++webhook)
        EXPECT_EQ(subject.offer({webhook}, {++key + 100, live}, t0 + 2'001).size(), 1u);
    EXPECT_EQ(subject.offer(b, {12, live}, t0 + 2'001), actions{}) << "half, and no more";
    EXPECT_EQ(subject.tick(t0 + 4'002), actions{}) << "half as many again as there are slots is the end";
    EXPECT_EQ(subject.in_flight(), 12u);
    EXPECT_EQ(subject.finished({100}, 1, receiver_state::failing, t0 + 4'500), actions{start(12)});
}

TEST(lanes, a_quick_success_makes_a_lane_healthy_again) {
    lanes subject({.slots = 2, .depth = 16, .concurrency = 8});
    for (const schemas::webhook_id webhook : {a, b}) {
        subject.offer(webhook, {webhook.value, live}, t0);
        subject.finished(webhook, webhook.value, receiver_state::failing, t0);
    }
    EXPECT_EQ(subject.offer(a, {11, live}, t0), actions{start(11)});
    EXPECT_EQ(subject.offer(b, {12, live}, t0), actions{}) << "one slot for all troubled lanes";
    EXPECT_EQ(subject.finished(a, 11, receiver_state::well, t0), actions{start(12)});
    EXPECT_EQ(subject.offer(a, {13, live}, t0), actions{start(13)}) << "a is healthy";
}

TEST(lanes, lanes_take_turns_when_slots_are_short) {
    lanes subject({.slots = 1, .depth = 16, .concurrency = 8});
    EXPECT_EQ(subject.offer(a, {1, live}, t0), actions{start(1)});
    subject.offer(a, {2, live}, t0);
    subject.offer(b, {3, live}, t0);
    subject.offer(b, {4, live}, t0);
    EXPECT_EQ(subject.finished(a, 1, receiver_state::well, t0), actions{start(3)});
    EXPECT_EQ(subject.finished(b, 3, receiver_state::well, t0), actions{start(2)});
    EXPECT_EQ(subject.finished(a, 2, receiver_state::well, t0), actions{start(4)});
}

TEST(lanes, an_open_breaker_spills_what_waits_and_what_comes_and_lets_one_probe_through) {
    lanes subject;
    open_breaker(subject, a, t0);
    EXPECT_EQ(subject.offer(a, {1, live}, t0 + 1), actions{spill(1, spill_reason::breaker_open, 29'999)});
    EXPECT_EQ(subject.offer(b, {2, live}, t0 + 1), actions{start(2)});
    const std::int64_t later = t0 + 30'000;
    EXPECT_EQ(subject.offer(a, {3, live}, later), actions{start(3)}) << "the probe";
    EXPECT_EQ(subject.offer(a, {4, live}, later), actions{spill(4, spill_reason::breaker_open)});
    subject.finished(a, 3, receiver_state::well, later);
    EXPECT_EQ(subject.offer(a, {5, live}, later), actions{start(5)});
    EXPECT_EQ(subject.open_breakers().size(), 0u);
}

TEST(lanes, the_failure_that_opens_the_breaker_spills_the_queue) {
    lanes subject;
    for (delivery_key key = 1; key <= 12; ++key) subject.offer(a, {key, live}, t0);
    for (delivery_key key = 1; key <= 9; ++key)
        EXPECT_EQ(subject.finished(a, key, receiver_state::failing, t0), actions{start(key + 1)});
    EXPECT_EQ(subject.finished(a, 10, receiver_state::failing, t0),
              (actions{spill(11, spill_reason::breaker_open, 30'000),
                       spill(12, spill_reason::breaker_open, 30'000)}));
}

TEST(lanes, a_parked_webhook_starts_nothing_until_then) {
    lanes subject;
    subject.offer(a, {1, live}, t0);
    subject.offer(a, {2, live}, t0);
    EXPECT_EQ(subject.park(a, 0, t0 + 60'000, t0), actions{spill(2, spill_reason::parked, 60'000)});
    EXPECT_EQ(subject.finished(a, 1, receiver_state::unknown, t0), actions{});
    EXPECT_EQ(subject.offer(a, {3, live}, t0 + 59'999), actions{spill(3, spill_reason::parked, 1)});
    EXPECT_EQ(subject.parked_until_ms(a), t0 + 60'000);
    EXPECT_EQ(subject.park(a, 0, t0 + 10, t0), actions{}) << "a shorter pause does not end the longer one";
    EXPECT_EQ(subject.offer(a, {4, live}, t0 + 60'000), actions{start(4)});
}

TEST(lanes, a_webhook_that_was_changed_begins_anew) {
    lanes subject;
    open_breaker(subject, a, t0);
    subject.park(a, 0, t0 + 60'000, t0);
    const lane_offer after_change{.delivery = 1, .revision = 7};
    EXPECT_TRUE(subject.wants(a, after_change, t0));
    EXPECT_EQ(subject.offer(a, after_change, t0), actions{start(1)});
    EXPECT_EQ(subject.open_breakers().size(), 0u);
    EXPECT_EQ(subject.park(a, 6, t0 + 60'000, t0), actions{}) << "what it was asked for before the change";
    EXPECT_EQ(subject.finished(a, 1, receiver_state::well, t0), actions{});
    EXPECT_EQ(subject.offer(a, {.delivery = 2, .revision = 6}, t0), actions{start(2)})
        << "a look at the table that is a little older takes nothing back";
    EXPECT_EQ(subject.park(a, 7, t0 + 60'000, t0), actions{});
    EXPECT_EQ(subject.offer(a, {.delivery = 3, .revision = 7}, t0),
              actions{spill(3, spill_reason::parked, 60'000)});
}

TEST(lanes, attempts_from_before_a_change_of_the_webhook_hold_up_nothing_and_say_nothing) {
    lanes subject;
    for (delivery_key key = 1; key <= 20; ++key) subject.offer(a, {key, live}, t0);
    subject.finished(a, 1, receiver_state::well, t0);  // 2 and 3 are under way, and hang
    subject.tick(t0 + 3'000);
    EXPECT_EQ(subject.offer(a, {.delivery = 30, .revision = 7}, t0 + 3'000), actions{start(4)})
        << "one at a time, beside the two";
    for (delivery_key key = 2; key <= 3; ++key)
        EXPECT_EQ(subject.finished(a, key, receiver_state::overloaded, t0 + 3'000), actions{});
    EXPECT_EQ(subject.finished(a, 4, receiver_state::well, t0 + 3'000), (actions{start(5), start(6)}))
        << "it has not been slowed down";
    EXPECT_EQ(subject.in_flight(), 2u);
}

TEST(lanes, tests_pass_by_breaker_and_parking_and_change_nothing) {
    lanes subject;
    open_breaker(subject, a, t0);
    subject.park(a, 0, t0 + 60'000, t0);
    EXPECT_EQ(subject.offer(a, {1, test}, t0), actions{start(1)});
    EXPECT_EQ(subject.offer(a, {2, test}, t0), actions{}) << "one at a time";
    EXPECT_EQ(subject.finished(a, 1, receiver_state::well, t0), actions{start(2)});
    EXPECT_EQ(subject.open_breakers().size(), 1u) << "its success closed nothing";
    EXPECT_EQ(subject.offer(a, {3, live}, t0), actions{spill(3, spill_reason::parked, 60'000)});
    subject.finished(a, 2, receiver_state::unknown, t0);

    for (delivery_key key = 20; key < 40; ++key) {
        ASSERT_EQ(subject.offer(b, {key, test}, t0), actions{start(key)});
        subject.finished(b, key, receiver_state::failing, t0);
    }
    EXPECT_EQ(subject.open_breakers().size(), 1u) << "their failures opened nothing";
}

TEST(lanes, tests_do_not_wait_behind_a_hanging_attempt_and_only_a_few_wait_at_all) {
    lanes subject;
    subject.offer(a, {1, live}, t0);
    subject.offer(a, {2, live}, t0);
    EXPECT_EQ(subject.offer(a, {3, test}, t0), actions{start(3)});
    for (delivery_key key = 10; key < 18; ++key) EXPECT_EQ(subject.offer(a, {key, test}, t0), actions{});
    EXPECT_EQ(subject.offer(a, {18, test}, t0), actions{spill(18, spill_reason::no_room)});
}

TEST(lanes, replays_start_only_while_no_live_delivery_waits_and_in_slots_of_their_own) {
    lanes subject({.slots = 100, .depth = 256, .concurrency = 8});
    for (delivery_key key = 1000; key < 1030; ++key) subject.offer(a, {key, replay}, t0);
    std::set<delivery_key> running{1000};
    const auto apply = [&](const actions& done) {
        for (const lane_action& one : done) running.insert(one.delivery);
    };
    const auto replays = [&] {
        return std::count_if(running.begin(), running.end(), [](auto key) { return key >= 1000; });
    };
    for (delivery_key key = 1; key <= 100; ++key) apply(subject.offer(a, {key, live}, t0));
    EXPECT_TRUE(running.contains(1)) << "the replay that runs takes no slot from it";
    // Grow the lane to eight, and let it work off what is live.
    const auto finish = [&](delivery_key key) {
        running.erase(key);
        apply(subject.finished(a, key, receiver_state::well, t0));
    };
    for (delivery_key key = 1; key <= 91; ++key) {
        finish(key);
        EXPECT_EQ(replays(), 1) << "only what ran before";
    }
    finish(92);  // the last live delivery starts
    EXPECT_EQ(replays(), 2) << "a quarter, now that no live delivery waits";
    finish(1000);
    EXPECT_EQ(replays(), 2) << "one for one";
    EXPECT_EQ(running.size(), 10u);
}

TEST(lanes, a_resend_is_attempted_past_an_open_breaker_and_its_success_closes_it) {
    lanes subject;
    open_breaker(subject, a, t0);
    EXPECT_EQ(subject.offer(a, {1, lane_share::resend}, t0), actions{start(1)});
    EXPECT_EQ(subject.offer(a, {2, lane_share::resend}, t0), actions{}) << "one at a time";
    EXPECT_EQ(subject.finished(a, 1, receiver_state::failing, t0), actions{start(2)});
    EXPECT_EQ(subject.open_breakers().size(), 1u) << "its failure says nothing new";
    subject.finished(a, 2, receiver_state::well, t0);
    EXPECT_EQ(subject.open_breakers().size(), 0u);
    EXPECT_EQ(subject.offer(a, {3, live}, t0), actions{start(3)});
}

TEST(lanes, while_barred_nothing_starts_and_waiting_does_not_count) {
    lanes subject;
    EXPECT_EQ(subject.bar(true, t0), actions{});
    EXPECT_EQ(subject.offer(a, {1, live}, t0), actions{});
    EXPECT_EQ(subject.tick(t0 + 60'000), actions{});
    EXPECT_EQ(subject.bar(false, t0 + 60'000), actions{start(1)});
}

TEST(lanes, a_withdrawn_delivery_leaves_without_an_action) {
    lanes subject;
    subject.offer(a, {1, live}, t0);
    subject.offer(a, {2, live}, t0);
    subject.offer(a, {3, live}, t0);
    subject.withdraw(a, 2);
    subject.withdraw(b, 3);
    EXPECT_EQ(subject.finished(a, 1, receiver_state::well, t0), actions{start(3)});
}

TEST(lanes, idle_lanes_are_forgotten_but_not_their_open_breakers) {
    lanes subject;
    open_breaker(subject, a, t0);
    subject.tick(t0 + 20 * 60'000);
    EXPECT_EQ(subject.open_breakers().size(), 1u);
    subject.tick(t0 + 25 * 3'600'000);
    EXPECT_EQ(subject.open_breakers().size(), 0u) << "but for those of webhooks that never come back";
}

TEST(lanes, random_events_never_lose_or_double_a_delivery_and_keep_the_bounds) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        test::seeded_random random(seed);
        lanes subject({.slots = 6, .depth = 4, .concurrency = 3});
        std::map<delivery_key, schemas::webhook_id> waiting;
        std::map<delivery_key, schemas::webhook_id> running;
        std::int64_t now = t0;
        delivery_key last = 0;
        const auto apply = [&](const actions& done) {
            for (const lane_action& one : done) {
                const auto found = waiting.find(one.delivery);
                ASSERT_NE(found, waiting.end()) << one;
                if (one.what == lane_action::kind::start) running.insert(*found);
                waiting.erase(found);
            }
        };
        for (int step = 0; step < 400; ++step) {
            const schemas::webhook_id webhook{random.below(5) + 1};
            switch (random.below(6)) {
                case 0:
                case 1:
                    waiting.emplace(++last, webhook);
                    apply(subject.offer(webhook, {last, static_cast<lane_share>(random.below(3))}, now));
                    break;
                case 2:
                    if (running.empty()) break;
                    {
                        const auto one =
                            *std::next(running.begin(), static_cast<long>(random.below(running.size())));
                        running.erase(one.first);
                        apply(subject.finished(one.second, one.first,
                                               static_cast<receiver_state>(random.below(4)), now));
                    }
                    break;
                case 3:
                    apply(
                        subject.park(webhook, 0, now + static_cast<std::int64_t>(random.below(8'000)), now));
                    break;
                case 4:
                    if (waiting.empty()) break;
                    subject.withdraw(waiting.begin()->second, waiting.begin()->first);
                    waiting.erase(waiting.begin());
                    break;
                default:
                    now += static_cast<std::int64_t>(random.below(3'000));
                    apply(subject.tick(now));
            }
            if (HasFatalFailure()) return;
            ASSERT_EQ(subject.in_flight(), running.size());
            ASSERT_EQ(subject.waiting(), waiting.size());
            ASSERT_LE(running.size(), 6u + 3u);
        }
        // Whatever happened: once everything is answered, every delivery leaves within seconds.
        for (int round = 0; round < 200 && !(waiting.empty() && running.empty()); ++round) {
            while (!running.empty()) {
                const auto one = *running.begin();
                running.erase(running.begin());
                apply(subject.finished(one.second, one.first, receiver_state::well, now));
            }
            apply(subject.tick(now += 1'000));
        }
        ASSERT_TRUE(waiting.empty());
    }
}

}  // namespace
}  // namespace herald::test
