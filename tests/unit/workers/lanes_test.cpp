// Protects P4: a slow, hanging or dead receiver delays nobody else, and every delivery leaves its lane.
#include "workers/lanes.hpp"
#include "workers/limits.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "runtime/random.hpp"

namespace herald::test {
namespace {

using namespace workers;

constexpr schemas::webhook_id a{1};
constexpr schemas::webhook_id b{2};
constexpr schemas::webhook_id c{3};
constexpr auto live = lane_share::live;
constexpr auto replay = lane_share::replay;
constexpr auto test = lane_share::test;
constexpr std::int64_t t0 = 1'000'000;

lane_action start(delivery_key delivery) { return {lane_action::kind::start, delivery, {}, 0}; }
lane_action spill(delivery_key delivery, spill_reason reason, std::int64_t wait_ms = 0) {
    return {lane_action::kind::spill, delivery, reason, wait_ms};
}
using actions = lane_actions;

/// Fails deliveries of `webhook` until its breaker opens; uses keys from 900 on.
void open_breaker(lanes& subject, schemas::webhook_id webhook, std::int64_t now_ms) {
    for (delivery_key key = 900; key < 910; ++key) {
        ASSERT_EQ(subject.offer(webhook, {key, live}, now_ms), actions{start(key)});
        subject.finished(webhook, key, receiver_state::failing, now_ms);
    }
    ASSERT_EQ(subject.open_breakers(), 1u);
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

// ---- pace

/// Answers everything running `takes_ms` after its start, until nothing runs or `ms` have passed.
struct receiver_of_lane {
    lanes& subject;
    std::int64_t takes_ms;
    std::multimap<std::int64_t, delivery_key> due = {};
    std::vector<lane_action> spilled = {};
    std::size_t done = 0;

    void take(const actions& some, std::int64_t now_ms) {
        for (const lane_action& one : some) {
            if (one.what == lane_action::kind::start)
                due.emplace(now_ms + takes_ms, one.delivery);
            else
                spilled.push_back(one);
        }
    }
    void run_until(std::int64_t until_ms) {
        while (!due.empty() && due.begin()->first <= until_ms) {
            const auto [now_ms, key] = *due.begin();
            due.erase(due.begin());
            ++done;
            take(subject.finished(a, key, receiver_state::well, now_ms), now_ms);
        }
    }
};

TEST(lanes, a_lane_holds_what_its_receiver_works_off_in_two_seconds) {
    for (const auto& [takes_ms, least, most] :
         {std::tuple{1, 4'096, 4'096}, {100, 600, 640}, {1'000, 32, 64}, {1'900, 16, 36}}) {
        lanes subject;
        receiver_of_lane receiver{subject, takes_ms};
        delivery_key key = 0;
        for (std::int64_t now = t0; now < t0 + 60'000; now += takes_ms) {  // until it has grown
            for (int some = 0; some < 40; ++some) receiver.take(subject.offer(a, {++key, live}, now), now);
            receiver.run_until(now + takes_ms);
        }
        receiver.run_until(t0 + 120'000);
        receiver.spilled.clear();
        const std::int64_t now = t0 + 120'000;
        for (int some = 0; some < 5'000; ++some) receiver.take(subject.offer(a, {++key, live}, now), now);
        EXPECT_GE(subject.waiting(), std::size_t(least)) << takes_ms;
        EXPECT_LE(subject.waiting(), std::size_t(most)) << takes_ms;
    }
}

TEST(lanes, the_backlog_of_a_quick_receiver_waits_for_room_only) {
    lanes subject;
    receiver_of_lane receiver{subject, 5};
    delivery_key key = 0;
    for (std::int64_t now = t0; now < t0 + 2'000; now += 5) {
        receiver.take(subject.offer(a, {++key, live}, now), now);
        receiver.run_until(now);
    }
    for (int some = 0; some < 50'000; ++some)
        receiver.take(subject.offer(a, {++key, live}, t0 + 2'000), t0 + 2'000);
    EXPECT_GT(receiver.spilled.size(), 40'000u);
    for (const lane_action& one : receiver.spilled) {
        ASSERT_EQ(one.reason, spill_reason::no_room);
        ASSERT_EQ(one.wait_ms, 0);
    }
    EXPECT_FALSE(subject.wants(
        a, {.delivery = ++key, .bytes = 3 * limits::lane_bytes_max, .has_waited = true}, t0 + 2'000));
    EXPECT_TRUE(subject.wants(a, {.delivery = key, .has_waited = true}, t0 + 2'000))
        << "before those that have not waited";
}

TEST(lanes, a_slow_receiver_gets_what_it_cannot_do_within_seconds_when_it_will_have_come_so_far) {
    lanes subject;
    receiver_of_lane receiver{subject, 500};
    delivery_key key = 0;
    for (std::int64_t now = t0; now < t0 + 30'000; now += 10) {
        receiver.take(subject.offer(a, {++key, live}, now), now);
        receiver.run_until(now);
    }
    receiver.spilled.clear();
    const std::int64_t now = t0 + 30'000;
    for (int some = 0; some < 10'000; ++some) receiver.take(subject.offer(a, {++key, live}, now), now);
    std::size_t for_room = 0;
    std::int64_t last_ms = 0;
    for (const lane_action& one : receiver.spilled) {
        ASSERT_EQ(one.reason, spill_reason::no_room);
        ASSERT_TRUE(one.wait_ms == 0 || one.wait_ms > limits::slow_backlog_ms_max);
        for_room += one.wait_ms == 0 ? 1 : 0;
        ASSERT_GE(one.wait_ms, last_ms);
        last_ms = one.wait_ms;
    }
    EXPECT_LE(for_room, 5u * 64 + 32) << "64 a second";
    EXPECT_NEAR(double(last_ms), 10'000 / 64.0 * 1'000, 20'000);
}

TEST(lanes, a_receiver_whose_answers_take_longer_and_longer_gets_fewer_at_a_time) {
    lanes subject;
    // It handles 100 a second, however many arrive at once.
    std::int64_t now = t0;
    delivery_key key = 0;
    std::set<delivery_key> running;
    const auto take = [&](const actions& some) {
        for (const lane_action& one : some)
            if (one.what == lane_action::kind::start) running.insert(one.delivery);
    };
    for (int round = 0; round < 3'000; ++round) {
        for (int some = 0; some < 2; ++some) take(subject.offer(a, {++key, live}, now));
        now += 10;
        const delivery_key first = *running.begin();
        running.erase(running.begin());
        take(subject.finished(a, first, receiver_state::well, now));
    }
    EXPECT_LE(subject.in_flight(), 8u) << "more do nothing but wait there";
    EXPECT_GE(subject.in_flight(), 1u);
}

TEST(lanes, a_failure_between_successes_makes_nobody_wait_for_a_time) {
    lanes subject({.slots = 8, .depth = 2, .concurrency = 1});
    subject.offer(a, {1, live}, t0);
    for (delivery_key key = 2; key <= 3; ++key) subject.offer(a, {key, live}, t0);
    subject.finished(a, 1, receiver_state::well, t0 + 10);
    subject.finished(a, 2, receiver_state::failing, t0 + 20);
    subject.offer(a, {4, live}, t0 + 30);
    subject.offer(a, {5, live}, t0 + 30);
    EXPECT_EQ(subject.offer(a, {6, live}, t0 + 30), actions{spill(6, spill_reason::no_room)});
    EXPECT_EQ(subject.offer(a, {7, live}, t0 + 1'500), actions{spill(7, spill_reason::troubled)});
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
    EXPECT_EQ(subject.tick(t0 + 5'001), actions{spill(2, spill_reason::troubled)});
    EXPECT_EQ(subject.tick(t0 + 8'001), actions{spill(3, spill_reason::troubled)});
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
    EXPECT_EQ(subject.open_breakers(), 0u);
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
    EXPECT_EQ(subject.park(a, t0 + 60'000, t0), actions{spill(2, spill_reason::parked, 60'000)});
    EXPECT_EQ(subject.finished(a, 1, receiver_state::unknown, t0), actions{});
    EXPECT_EQ(subject.offer(a, {3, live}, t0 + 59'999), actions{spill(3, spill_reason::parked, 1)});
    EXPECT_EQ(subject.parked_until_ms(a), t0 + 60'000);
    EXPECT_EQ(subject.park(a, t0 + 10, t0), actions{}) << "a shorter pause does not end the longer one";
    EXPECT_EQ(subject.offer(a, {4, live}, t0 + 60'000), actions{start(4)});
}

TEST(lanes, tests_pass_by_breaker_and_parking_and_change_nothing) {
    lanes subject;
    open_breaker(subject, a, t0);
    subject.park(a, t0 + 60'000, t0);
    EXPECT_EQ(subject.offer(a, {1, test}, t0), actions{start(1)});
    EXPECT_EQ(subject.offer(a, {2, test}, t0), actions{}) << "one at a time";
    EXPECT_EQ(subject.finished(a, 1, receiver_state::well, t0), actions{start(2)});
    EXPECT_EQ(subject.open_breakers(), 1u) << "its success closed nothing";
    EXPECT_EQ(subject.offer(a, {3, live}, t0), actions{spill(3, spill_reason::parked, 60'000)});
    subject.finished(a, 2, receiver_state::unknown, t0);

    for (delivery_key key = 20; key < 40; ++key) {
        ASSERT_EQ(subject.offer(b, {key, test}, t0), actions{start(key)});
        subject.finished(b, key, receiver_state::failing, t0);
    }
    EXPECT_EQ(subject.open_breakers(), 1u) << "their failures opened nothing";
}

TEST(lanes, tests_do_not_wait_behind_a_hanging_attempt_and_only_a_few_wait_at_all) {
    lanes subject;
    subject.offer(a, {1, live}, t0);
    subject.offer(a, {2, live}, t0);
    EXPECT_EQ(subject.offer(a, {3, test}, t0), actions{start(3)});
    for (delivery_key key = 10; key < 18; ++key) EXPECT_EQ(subject.offer(a, {key, test}, t0), actions{});
    EXPECT_EQ(subject.offer(a, {18, test}, t0), actions{spill(18, spill_reason::no_room)});
}

TEST(lanes, replays_take_turns_with_live_deliveries_and_get_at_most_a_quarter) {
    lanes subject({.slots = 100, .depth = 256, .concurrency = 8});
    for (delivery_key key = 1000; key < 1060; ++key) subject.offer(a, {key, replay}, t0);
    for (delivery_key key = 1; key <= 100; ++key) subject.offer(a, {key, live}, t0);
    // Grow the lane to eight.
    std::set<delivery_key> running{1000};
    const auto apply = [&](const actions& done) {
        for (const lane_action& one : done) running.insert(one.delivery);
    };
    std::size_t replays = 0;
    for (int round = 0; round < 60; ++round) {
        const delivery_key oldest = *running.begin();
        running.erase(running.begin());
        apply(subject.finished(a, oldest, receiver_state::well, t0));
        replays = static_cast<std::size_t>(
            std::count_if(running.begin(), running.end(), [](auto key) { return key >= 1000; }));
        EXPECT_LE(replays, 2u);
        EXPECT_EQ(running.size(), subject.in_flight());
    }
    EXPECT_EQ(running.size(), 8u);
    EXPECT_EQ(replays, 2u) << "and it does get its quarter";
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
    EXPECT_EQ(subject.open_breakers(), 1u);
    subject.tick(t0 + 25 * 3'600'000);
    EXPECT_EQ(subject.open_breakers(), 0u) << "but for those of webhooks that never come back";
}

TEST(lanes, random_events_never_lose_or_double_a_delivery_and_keep_the_bounds) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        runtime::seeded_random random(seed);
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
                    apply(subject.park(webhook, now + static_cast<std::int64_t>(random.below(8'000)), now));
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
