// Protects P3: an offset is committed only when all deliveries of all records below it are done; and nothing
// done after an open record is repeated after a restart.
#include "workers/delivery_tracker.hpp"
#include "events/log/limits.hpp"
#include "workers/limits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "tests/support/seeded_random.hpp"

namespace herald::test {
namespace {

using namespace workers;

using parts = std::vector<std::size_t>;

TEST(delivery_tracker, commits_a_record_only_when_all_its_parts_are_done) {
    delivery_tracker tracker({5, {}});
    tracker.opened(5, {0, 1}, "a");
    tracker.part_done(5, 1);
    EXPECT_EQ(tracker.take_commit()->next_offset, 5);
    tracker.part_done(5, 0);
    EXPECT_EQ(tracker.take_commit(), (commit_point{6, "a"}));
    EXPECT_FALSE(tracker.take_commit()) << "said once";
}

TEST(delivery_tracker, a_record_without_parts_is_done_at_once) {
    delivery_tracker tracker({0, {}});
    tracker.opened(0, {}, "a");
    EXPECT_EQ(tracker.take_commit(), (commit_point{1, "a"}));
}

TEST(delivery_tracker, what_is_done_behind_an_open_record_is_named_and_not_done_again) {
    delivery_tracker tracker({0, {}});
    tracker.opened(0, {0, 1, 2}, "a");
    tracker.opened(1, {0}, "b");
    tracker.opened(7, {0, 1}, "c");  // offsets may have holes
    tracker.opened(8, {}, "d");
    for (const auto& [offset, part] : {std::pair{0, 1}, {1, 0}, {7, 0}})
        tracker.part_done(offset, std::size_t(part));
    const auto committed = tracker.take_commit();
    EXPECT_EQ(committed, (commit_point{0, "d 9 0.0.2 7.1"}));

    delivery_tracker next(*committed);
    EXPECT_EQ(next.first_position(), "d");
    EXPECT_EQ(next.parts_left(0, 3), (parts{0, 2}));
    EXPECT_EQ(next.parts_left(1, 1), parts{});
    EXPECT_EQ(next.parts_left(7, 2), parts{1});
    EXPECT_EQ(next.parts_left(8, 2), parts{});
    EXPECT_EQ(next.parts_left(9, 2), (parts{0, 1})) << "a new one";
    EXPECT_TRUE(next.had(8));
    EXPECT_FALSE(next.had(9));
    next.opened(0, {0, 2}, "");
    next.part_done(0, 0);
    EXPECT_EQ(next.take_commit(), (commit_point{0, "d 9 0.2 7.1"})) << "the rest is not read yet, but known";
    next.opened(1, {}, "");
    next.opened(7, {1}, "");
    next.opened(8, {}, "d");
    EXPECT_EQ(next.take_commit(), (commit_point{0, "d 9 0.2 7.1"}));
    next.part_done(0, 2);
    next.part_done(7, 1);
    EXPECT_EQ(next.take_commit(), (commit_point{9, "d"}));
}

TEST(delivery_tracker, a_commit_keeps_what_the_assignment_before_has_done_further_on) {
    delivery_tracker first({0, {}});
    for (std::int64_t offset = 0; offset < 6; ++offset) first.opened(offset, {0, 1}, std::to_string(offset));
    for (std::int64_t offset = 1; offset < 6; ++offset) first.part_done(offset, 0);
    delivery_tracker second(*first.take_commit());
    second.opened(0, {0, 1}, "0");
    second.part_done(0, 0);
    second.part_done(0, 1);
    const auto committed = second.take_commit();
    EXPECT_EQ(committed, (commit_point{1, "5 5 0.1*5"}));
    delivery_tracker third(*committed);
    EXPECT_TRUE(third.had(5));
    EXPECT_EQ(third.parts_left(5, 2), parts{1});
}

TEST(delivery_tracker, records_with_the_same_parts_open_take_one_word) {
    delivery_tracker tracker({0, {}});
    for (std::int64_t offset = 0; offset < 3'000; ++offset) tracker.opened(offset, {0, 1, 2}, "a");
    for (std::int64_t offset = 0; offset < 2'000; ++offset) tracker.part_done(offset, 1);
    for (std::int64_t offset = 1'000; offset < 2'500; ++offset) tracker.part_done(offset, 2);
    const auto committed = tracker.take_commit();
    EXPECT_EQ(committed, (commit_point{0, "a 3000 0.0.2*1000 1.0*1000 1.0.1*500 1.0.1.2*500"}));
    const progress found = read_progress(*committed);
    EXPECT_EQ(found.known_until, 3'000);
    EXPECT_EQ(found.open.at(0), (parts{0, 2}));
    EXPECT_EQ(found.open.at(999), (parts{0, 2}));
    EXPECT_EQ(found.open.at(1'999), parts{0});
    EXPECT_EQ(found.open.at(2'000), (parts{0, 1}));
    EXPECT_EQ(found.open.at(2'999), (parts{0, 1, 2}));
}

TEST(delivery_tracker, no_commit_is_made_that_would_know_less_than_the_one_before) {
    const std::string position = "4294967295:18446744073709551615";
    delivery_tracker first({1'000'000, {}});
    for (std::int64_t offset = 1'000'000; offset < 1'000'300; ++offset)
        first.opened(offset, {offset % 2 == 0 ? 0u : 1u, 255}, position);
    const auto before = first.take_commit();
    delivery_tracker second(*before);
    // A word more than there were: the record at the beginning now names its parts, too.
    second.opened(1'000'000, {0, 100'000, 200'000, 300'000, 400'000, 500'000}, position);
    second.part_done(1'000'000, 0);
    EXPECT_FALSE(second.take_commit());
}

TEST(delivery_tracker, a_commit_has_a_bound_and_says_less_where_much_is_open) {
    delivery_tracker tracker({1'000'000, {}});
    const std::string position = "4294967295:18446744073709551615";
    for (std::int64_t offset = 1'000'000; offset < 1'002'000; ++offset)
        tracker.opened(offset, {offset % 2 == 0 ? 0u : 1u, 255}, position);
    const auto committed = tracker.take_commit();
    EXPECT_LE(committed->metadata.size(), limits::commit_metadata_bytes_max);
    const progress found = read_progress(*committed);
    EXPECT_GT(found.known_until, 1'000'100);
    EXPECT_LT(found.known_until, 1'002'000);
    EXPECT_EQ(found.position, position);
    EXPECT_EQ(found.open.size(), std::size_t(found.known_until - 1'000'000));
}

TEST(delivery_tracker, metadata_that_no_tracker_wrote_says_nothing) {
    for (const std::string text : {"1:2 x", "1:2 5 3.", "1:2 5 3.a", "1:2 5  3.1", "1:2 5 3.1 ", " ",
                                   "1:2 5 3.1*", "1:2 5 3.1*0", "1:2 5 3.1*16385"}) {
        const progress found = read_progress({7, text});
        EXPECT_EQ(found.known_until, 7) << text;
        EXPECT_EQ(found.position, "") << text;
        EXPECT_TRUE(found.open.empty()) << text;
    }
    EXPECT_EQ(read_progress({7, "1:2"}).position, "1:2");
}

TEST(delivery_tracker, is_full_when_the_window_is_used_up_and_has_room_again_when_the_first_is_done) {
    delivery_tracker tracker({0, {}});
    std::int64_t offset = 0;
    while (!tracker.full()) tracker.opened(offset++, {0}, "");
    EXPECT_EQ(tracker.parts_open(), limits::worker_window_max);
    for (std::int64_t done = 1; done < offset; ++done) tracker.part_done(done, 0);
    EXPECT_EQ(tracker.parts_open(), 1u);
    tracker.part_done(0, 0);
    EXPECT_FALSE(tracker.full());
    EXPECT_EQ(tracker.take_commit()->next_offset, offset);
}

TEST(delivery_tracker, many_records_may_be_done_behind_an_open_one_but_not_any_number) {
    delivery_tracker tracker({0, {}});
    tracker.opened(0, {0}, "");
    std::int64_t offset = 1;
    while (!tracker.full()) tracker.opened(offset++, {}, "");
    EXPECT_EQ(offset, static_cast<std::int64_t>(limits::worker_window_records_max));
}

TEST(delivery_tracker, whatever_the_order_of_the_parts_and_the_crashes_each_is_done_and_a_commit_says_which) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        test::seeded_random random(seed);
        std::vector<std::size_t> log;  // parts of each record
        for (int record = 0; record < 100; ++record) log.push_back(random.below(4));
        std::map<std::pair<std::int64_t, std::size_t>, int> done;
        commit_point committed{0, {}};
        while (committed.next_offset < std::int64_t(log.size())) {
            delivery_tracker tracker(committed);
            std::vector<std::pair<std::int64_t, std::size_t>> open;
            std::int64_t next = committed.next_offset;
            while (random.below(60) != 0 && committed.next_offset < std::int64_t(log.size())) {
                if (next < std::int64_t(log.size()) && (open.empty() || random.below(2) == 0)) {
                    const parts left = tracker.parts_left(next, log[std::size_t(next)]);
                    tracker.opened(next, left, std::to_string(next));
                    for (const std::size_t part : left) open.emplace_back(next, part);
                    ++next;
                } else if (!open.empty()) {
                    std::swap(open[random.below(open.size())], open.back());
                    tracker.part_done(open.back().first, open.back().second);
                    ++done[open.back()];
                    open.pop_back();
                }
                const auto point = random.below(2) == 0 ? tracker.take_commit() : std::nullopt;
                if (!point) continue;
                committed = *point;
                const progress found = read_progress(committed);
                for (std::int64_t offset = 0; offset < found.known_until; ++offset)
                    for (std::size_t part = 0; part < log[std::size_t(offset)]; ++part) {
                        const auto named = found.open.find(offset);
                        const bool is_open = named != found.open.end() &&
                                             std::find(named->second.begin(), named->second.end(), part) !=
                                                 named->second.end();
                        ASSERT_TRUE(is_open || done.contains({offset, part})) << offset << "." << part;
                    }
            }
        }
        for (std::size_t offset = 0; offset < log.size(); ++offset)
            for (std::size_t part = 0; part < log[offset]; ++part)
                ASSERT_TRUE(done.contains({std::int64_t(offset), part}));
    }
}

}  // namespace
}  // namespace herald::test
