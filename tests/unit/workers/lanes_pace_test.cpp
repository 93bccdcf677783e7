// Protects P4 and "Pace" of delivery.md §4 in the lanes: a lane holds what its receiver works off within
// seconds, however quick it is, and makes nobody wait who is well.
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "tests/unit/workers/lane_actions.hpp"
#include "workers/limits.hpp"

namespace herald::test {
namespace {

using namespace workers;

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

TEST(lanes, what_a_receiver_that_does_not_answer_has_no_room_for_waits_apart_from_others_until_it_fails) {
    lanes subject;
    subject.offer(a, {1, live}, t0);
    subject.offer(a, {2, live}, t0);
    subject.offer(a, {3, live}, t0);
    const lane_offer waited{.delivery = 4, .has_waited = true, .waited_ms = 1};
    EXPECT_TRUE(subject.offer(a, waited, t0 + 1'000).empty()) << "nobody knows yet";
    subject.tick(t0 + 3'000);
    const lane_offer next{.delivery = 5, .has_waited = true, .waited_ms = 1};
    EXPECT_TRUE(subject.wants(a, next, t0 + 3'000)) << "to put it where it holds up nobody";
    EXPECT_EQ(subject.offer(a, next, t0 + 3'000), actions{spill(5, spill_reason::no_room, 60'000)});
    EXPECT_FALSE(subject.wants(a, {.delivery = 6, .has_waited = true}, t0 + 3'000)) << "there it stays";
    subject.finished(a, 1, receiver_state::failing, t0 + 15'000);
    EXPECT_TRUE(subject.wants(a, {.delivery = 6, .has_waited = true}, t0 + 15'000));
    EXPECT_EQ(subject.offer(a, {6, live}, t0 + 15'000), actions{spill(6, spill_reason::troubled)});
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

}  // namespace
}  // namespace herald::test
