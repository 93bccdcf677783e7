// Protects "each event once, ascending" (simulation.md, invariant 4): repeats are dropped, gaps are noticed.
#include "workers/event_position.hpp"

#include <gtest/gtest.h>

namespace herald::test {
namespace {

using namespace workers;

TEST(event_position, the_next_sequence_is_expected_and_a_new_generation_starts_at_one) {
    EXPECT_EQ(judge({}, {1, 1}), arrival::expected);
    EXPECT_EQ(judge({1, 1}, {1, 2}), arrival::expected);
    EXPECT_EQ(judge({1, 900}, {2, 1}), arrival::expected);
    EXPECT_EQ(judge({1, 900}, {3, 1}), arrival::expected);
}

TEST(event_position, what_was_had_is_repeated_and_an_older_generation_too) {
    EXPECT_EQ(judge({1, 7}, {1, 7}), arrival::repeated);
    EXPECT_EQ(judge({1, 7}, {1, 1}), arrival::repeated);
    EXPECT_EQ(judge({2, 1}, {1, 900}), arrival::repeated);
}

TEST(event_position, anything_else_comes_after_a_gap) {
    EXPECT_EQ(judge({}, {1, 2}), arrival::after_gap);
    EXPECT_EQ(judge({1, 7}, {1, 9}), arrival::after_gap);
    EXPECT_EQ(judge({1, 7}, {2, 8}), arrival::after_gap)
        << "the same number plus one, but another generation";
}

TEST(event_position, survives_as_text) {
    const event_position position{7, 18'446'744'073'709'551'615ull};
    EXPECT_EQ(to_text(position), "7:18446744073709551615");
    EXPECT_EQ(position_from_text(to_text(position)), position);
}

TEST(event_position, other_texts_mean_that_nothing_was_had) {
    for (const char* text : {"", "7", ":", "7:", ":7", "x:1", "1:-1", "4294967296:1", "1:2:3"})
        EXPECT_EQ(position_from_text(text), event_position{}) << text;
}

}  // namespace
}  // namespace herald::test
