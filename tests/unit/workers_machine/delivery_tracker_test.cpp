// Protects P3: an offset is committed only when all deliveries of all records below it are done.
#include "workers/delivery_tracker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "runtime/random.hpp"

namespace herald::workers {
namespace {

TEST(delivery_tracker, commits_a_record_only_when_all_its_parts_are_done) {
    delivery_tracker tracker(5);
    tracker.opened(5, 2, "a");
    tracker.part_done(5);
    EXPECT_FALSE(tracker.take_commit());
    tracker.part_done(5);
    EXPECT_EQ(tracker.take_commit(), (commit_point{6, "a"}));
    EXPECT_FALSE(tracker.take_commit()) << "said once";
}

TEST(delivery_tracker, a_record_without_parts_is_done_at_once) {
    delivery_tracker tracker(0);
    tracker.opened(0, 0, "a");
    EXPECT_EQ(tracker.take_commit(), (commit_point{1, "a"}));
}

TEST(delivery_tracker, what_is_done_behind_an_open_record_waits_for_it) {
    delivery_tracker tracker(0);
    tracker.opened(0, 1, "a");
    tracker.opened(1, 1, "b");
    tracker.opened(7, 0, "c");  // offsets may have holes
    tracker.part_done(1);
    EXPECT_FALSE(tracker.take_commit());
    tracker.part_done(0);
    EXPECT_EQ(tracker.take_commit(), (commit_point{8, "c"}));
}

TEST(delivery_tracker, is_full_when_the_window_is_used_up_and_has_room_again_when_the_first_is_done) {
    delivery_tracker tracker(0);
    std::int64_t offset = 0;
    while (!tracker.full()) tracker.opened(offset++, 1, "");
    EXPECT_EQ(tracker.parts_open(), limits::worker_window_max);
    for (std::int64_t done = 1; done < offset; ++done) tracker.part_done(done);
    EXPECT_EQ(tracker.parts_open(), 1u);
    tracker.part_done(0);
    EXPECT_FALSE(tracker.full());
    EXPECT_EQ(tracker.take_commit()->next_offset, offset);
}

TEST(delivery_tracker, many_records_may_be_done_behind_an_open_one_but_not_any_number) {
    delivery_tracker tracker(0);
    tracker.opened(0, 1, "");
    std::int64_t offset = 1;
    while (!tracker.full()) tracker.opened(offset++, 0, "");
    EXPECT_EQ(offset, static_cast<std::int64_t>(limits::worker_window_records_max));
}

TEST(delivery_tracker, agrees_with_a_simple_model_whatever_the_order_of_the_parts) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        runtime::seeded_random random(seed);
        delivery_tracker tracker(0);
        std::map<std::int64_t, std::size_t> open;
        std::vector<std::int64_t> parts;
        std::int64_t next = 0;
        std::int64_t committed = 0;
        for (int step = 0; step < 300; ++step) {
            if (parts.empty() || random.below(2) == 0) {
                next += static_cast<std::int64_t>(random.below(3));
                const std::size_t count = random.below(4);
                tracker.opened(next, count, std::to_string(next));
                open[next] = count;
                parts.insert(parts.end(), count, next);
                ++next;
            } else {
                std::swap(parts[random.below(parts.size())], parts.back());
                tracker.part_done(parts.back());
                --open[parts.back()];
                parts.pop_back();
            }
            std::int64_t expected = committed;
            for (const auto& [offset, left] : open) {
                if (left > 0) break;
                expected = std::max(expected, offset + 1);
            }
            const auto commit = tracker.take_commit();
            ASSERT_EQ(commit.has_value(), expected > committed) << "seed " << seed;
            if (commit) {
                ASSERT_EQ(*commit, (commit_point{expected, std::to_string(expected - 1)})) << "seed " << seed;
                committed = expected;
            }
        }
    }
}

}  // namespace
}  // namespace herald::workers
