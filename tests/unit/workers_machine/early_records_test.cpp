// Protects waits: a record of a retry topic is handed on when due, not before, in the order of the log.
#include "workers/early_records.hpp"

#include <gtest/gtest.h>

namespace herald::workers {
namespace {

events::record at(std::int64_t offset, std::int64_t time_ms) { return {offset, time_ms, "1", "x"}; }

TEST(early_records, hand_on_a_record_when_its_delay_is_over) {
    early_records early(30'000);
    early.add(at(1, 100'000), 110'000, 5'000);  // 10 s of its 30 are over
    EXPECT_EQ(early.next_due_ms(), 25'000);
    EXPECT_FALSE(early.take_due(24'999));
    EXPECT_EQ(early.take_due(25'000)->offset, 1);
    EXPECT_FALSE(early.next_due_ms());
}

TEST(early_records, never_wait_longer_than_the_delay_from_when_they_were_seen) {
    early_records early(30'000);
    early.add(at(1, 900'000'000), 100'000, 5'000);
    EXPECT_EQ(early.next_due_ms(), 35'000);
}

TEST(early_records, keep_the_order_of_the_log) {
    early_records early(30'000);
    early.add(at(1, 100'000), 100'000, 5'000);
    early.add(at(2, 0), 100'000, 5'000);  // long due, but behind the first
    EXPECT_FALSE(early.take_due(5'000));
    EXPECT_EQ(early.take_due(35'000)->offset, 1);
    EXPECT_EQ(early.take_due(35'000)->offset, 2);
}

TEST(early_records, without_a_delay_everything_is_due_at_once) {
    early_records early(0);
    early.add(at(1, 900'000'000), 100'000, 5'000);
    EXPECT_EQ(early.take_due(5'000)->offset, 1);
}

}  // namespace
}  // namespace herald::workers
