// Protects the retry topics from a dead receiver: what waits in them for it is counted.
#include "workers/retry_backlog.hpp"

#include <gtest/gtest.h>

namespace herald::test {
namespace {

using namespace workers;

TEST(retry_backlog, counts_a_record_from_its_append_until_it_is_due) {
    retry_backlog backlog;
    backlog.add({1}, 0, 1'000);
    backlog.add({1}, 4, 1'000);
    backlog.add({2}, 0, 1'000);
    EXPECT_EQ(backlog.count({1}, 1'000), 2u);
    EXPECT_EQ(backlog.count({1}, 5'999), 2u);
    EXPECT_EQ(backlog.count({1}, 6'500), 1u) << "the 5 s are over, the 6 h are not";
    EXPECT_EQ(backlog.count({1}, 1'000 + 7 * 3'600'000), 0u);
    EXPECT_EQ(backlog.count({3}, 1'000), 0u);
}

TEST(retry_backlog, counts_each_of_many) {
    retry_backlog backlog;
    std::int64_t now = 0;
    for (int record = 0; record < 100'000; ++record) backlog.add({1}, 3, now += 10);
    EXPECT_EQ(backlog.count({1}, now), 100'000u);
    backlog.tick(now + 2 * 3'600'000);
    EXPECT_EQ(backlog.count({1}, now + 2 * 3'600'000), 0u);
}

}  // namespace
}  // namespace herald::test
