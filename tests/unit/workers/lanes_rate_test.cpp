// Protects receivers that set a rate (delivery.md §4): no more attempts begin in a second, and no fewer when
// there is work.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "tests/unit/workers/lane_actions.hpp"
#include "workers/limits.hpp"

namespace herald::test {
namespace {

using namespace workers;

/// Attempts that start, each answered at once, when the lane is looked at as often as it asks for.
std::vector<std::int64_t> starts_of(lanes& subject, delivery_key first, std::int64_t from_ms,
                                    std::int64_t to_ms) {
    std::vector<std::int64_t> starts;
    std::vector<delivery_key> running{first};
    std::int64_t now = from_ms;
    while (now < to_ms) {
        while (!running.empty()) {
            const delivery_key key = running.back();
            running.pop_back();
            starts.push_back(now);
            for (const lane_action& one : subject.finished(a, key, receiver_state::well, now))
                if (one.what == lane_action::kind::start) running.push_back(one.delivery);
        }
        const auto due = subject.paced_until_ms(now);
        if (!due) break;
        EXPECT_GT(*due, now) << "or the worker would spin";
        now = *due;
        for (const lane_action& one : subject.keep_pace(now))
            if (one.what == lane_action::kind::start) running.push_back(one.delivery);
    }
    return starts;
}

TEST(lanes, a_rate_limit_is_kept_and_used) {
    for (const std::uint32_t rate : {1u, 3u, 50u}) {
        lanes subject;
        delivery_key key = 0;
        delivery_key started = 0;
        for (int i = 0; i < 200; ++i)
            for (const lane_action& one : subject.offer(a, {.delivery = ++key, .rate_limit = rate}, t0))
                if (one.what == lane_action::kind::start) started = one.delivery;
        ASSERT_EQ(started, 1u) << "the others wait";
        const auto starts = starts_of(subject, started, t0, t0 + 4'000);
        EXPECT_GE(starts.size(), rate * 4) << rate;
        for (std::size_t i = 0; i < starts.size(); ++i) {
            const auto within = std::count_if(starts.begin(), starts.end(), [&](std::int64_t at) {
                return at >= starts[i] && at < starts[i] + 1'000;
            });
            EXPECT_LE(within, rate + 1 + rate / 50) << rate;
        }
    }
}

TEST(lanes, without_a_rate_limit_nothing_is_paced) {
    lanes subject;
    subject.offer(a, {.delivery = 1}, t0);
    subject.offer(a, {.delivery = 2}, t0);
    EXPECT_FALSE(subject.paced_until_ms(t0));
}

TEST(lanes, a_lane_whose_limit_is_lifted_starts_at_once) {
    lanes subject;
    for (delivery_key key = 1; key <= 4; ++key) subject.offer(a, {.delivery = key, .rate_limit = 1}, t0);
    subject.finished(a, 1, receiver_state::well, t0);
    EXPECT_TRUE(subject.paced_until_ms(t0));
    const auto actions = subject.offer(a, {.delivery = 5, .revision = 2}, t0);
    EXPECT_FALSE(actions.empty());
    EXPECT_FALSE(subject.paced_until_ms(t0));
}

TEST(lanes, a_test_does_not_wait_for_the_rate) {
    lanes subject;
    for (delivery_key key = 1; key <= 3; ++key) subject.offer(a, {.delivery = key, .rate_limit = 1}, t0);
    const auto actions = subject.offer(a, {.delivery = 9, .share = lane_share::test, .rate_limit = 1}, t0);
    ASSERT_EQ(actions.size(), 1u);
    EXPECT_EQ(actions[0].delivery, 9u);
}

TEST(lanes, that_lead_to_one_place_share_it_evenly) {
    lanes subject({.place = 4});
    std::map<schemas::webhook_id, int> done;
    std::deque<std::pair<schemas::webhook_id, delivery_key>> running;
    std::map<delivery_key, schemas::webhook_id> whose;
    const auto take = [&](const lane_actions& some) {
        for (const lane_action& one : some)
            if (one.what == lane_action::kind::start) running.emplace_back(whose[one.delivery], one.delivery);
    };
    delivery_key key = 0;
    for (int i = 0; i < 200; ++i)
        for (const schemas::webhook_id webhook : {a, b, c}) {
            whose[++key] = webhook;
            take(subject.offer(webhook, {.delivery = key, .place = 7}, t0));
        }
    whose[++key] = schemas::webhook_id{9};
    take(subject.offer({9}, {.delivery = key, .place = 8}, t0));
    EXPECT_EQ(running.size(), 4u) << "one each: they begin with one at a time, and one is elsewhere";
    for (int i = 0; i < 300; ++i) {
        ASSERT_FALSE(running.empty());
        const auto [webhook, delivery] = running.front();
        running.pop_front();
        ++done[webhook];
        take(subject.finished(webhook, delivery, receiver_state::well, t0 + i));
        const auto here = std::count_if(running.begin(), running.end(), [](const auto& each) {
            return each.first != schemas::webhook_id{9};
        });
        ASSERT_LE(here, 4) << i;
        if (i > 20) ASSERT_EQ(here, 4) << "and no fewer, " << i;
    }
    for (const schemas::webhook_id webhook : {a, b, c}) EXPECT_GE(done[webhook], 90) << webhook.value;
}

TEST(lanes, that_leave_a_place_make_room_there) {
    lanes subject({.place = 1});
    subject.offer(a, {.delivery = 1, .place = 7}, t0);
    EXPECT_TRUE(subject.offer(b, {.delivery = 2, .place = 7}, t0).empty());
    const auto moved = subject.offer(b, {.delivery = 3, .revision = 2, .place = 8}, t0);
    ASSERT_EQ(moved.size(), 1u);
    EXPECT_EQ(moved[0].delivery, 2u) << "it goes elsewhere now";
    const auto freed = subject.finished(a, 1, receiver_state::well, t0);
    EXPECT_TRUE(freed.empty());
    EXPECT_EQ(subject.offer(c, {.delivery = 4, .place = 7}, t0).size(), 1u);
}

}  // namespace
}  // namespace herald::test
