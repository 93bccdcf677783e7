// Protects the embedded log's time and what goes by it: old records are dropped and topics compacted, never
// early, whatever the machine's clock says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "runtime/metrics.hpp"
#include "tests/process/storage/embedded_log/embedded_log.hpp"
#include "tests/support/until.hpp"

namespace herald::test {
namespace {

using namespace events;
using namespace events::log;
using std::chrono::steady_clock;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(embedded_log, records_older_than_their_topic_keeps_them_go) {
    open();
    append_many(promote_0, 10, 10);
    append_many(commands_0, 10, 10);
    x_clock.advance_ms(13 * day_ms);
    append_many(promote_0, 5, 10);
    x_log->maintain();
    EXPECT_EQ(range(promote_0).first, 0);
    x_clock.advance_ms(1 * day_ms + 1);
    x_log->maintain();
    EXPECT_EQ(range(promote_0).first, 10);
    EXPECT_EQ(range(promote_0).next, 15);
    EXPECT_EQ(read(promote_0, 10)->size(), 5u);
    EXPECT_EQ(read(promote_0, 9).error().code, error_code::failed_precondition);
    EXPECT_EQ(read(commands_0, 0)->size(), 10u) << "commands are kept for ever";

    open();
    EXPECT_EQ(range(promote_0).first, 10);
    EXPECT_EQ(range(promote_0).next, 15);
}

std::int64_t time_of_last(const result<std::vector<record>>& records) { return records->back().time_ms; }

TEST_F(embedded_log, while_it_runs_the_wall_clock_does_not_move_its_time) {
    open();
    const std::int64_t start_ms = x_clock.wall_ms();
    for (const std::int64_t jump_ms : {400 * day_ms, -800 * day_ms}) {
        x_clock.jump_wall_ms(jump_ms);
        x_clock.advance_ms(1'000);
        ASSERT_TRUE(append(dead_0, "k", "v"));
        x_log->maintain();
    }
    EXPECT_EQ(time_of_last(read(dead_0, 0)), start_ms + 2'000);
    EXPECT_EQ(x_log->time_ms(), start_ms + 2'000);
    EXPECT_EQ(range(dead_0).first, 0);
}

TEST_F(embedded_log, a_start_follows_the_wall_clock_but_never_back) {
    open();
    ASSERT_TRUE(append(dead_0, "k", "v"));
    const std::int64_t first_ms = x_clock.wall_ms();
    x_clock.jump_wall_ms(20 * day_ms);
    open();
    ASSERT_TRUE(append(dead_0, "k", "v"));
    EXPECT_EQ(time_of_last(read(dead_0, 0)), first_ms + 20 * day_ms);
    x_clock.jump_wall_ms(-20 * day_ms);
    open();
    x_clock.advance_ms(5'000);
    ASSERT_TRUE(append(dead_0, "k", "v"));
    EXPECT_EQ(time_of_last(read(dead_0, 0)), first_ms + 20 * day_ms + 5'000) << "it goes on from there";
    EXPECT_EQ(runtime::metric_gauge(runtime::metrics::clock_off).value(), -20 * day_ms / 1'000);
}

TEST_F(embedded_log, a_clock_that_leapt_more_than_thirty_days_is_refused_unless_it_is_accepted) {
    open();
    ASSERT_TRUE(append(dead_0, "k", "v"));
    x_clock.jump_wall_ms(30 * day_ms + 1);
    const auto refused = try_open(x_folder / "log");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, error_code::failed_precondition);
    EXPECT_THAT(refused.error().message, HasSubstr("--accept-clock"));
    x_options.leap = storage::embedded_log::clock_leap::accepted;
    open();
    ASSERT_TRUE(append(dead_0, "k", "v"));
    EXPECT_EQ(time_of_last(read(dead_0, 0)), x_clock.wall_ms());
    x_options.leap = storage::embedded_log::clock_leap::refused;
    open();
}

TEST_F(embedded_log, after_a_leap_of_over_a_day_nothing_expires_for_a_day_whatever_is_started_anew) {
    open();
    append_many(direct_0, 3, 10);  // kept for 7 days
    x_clock.advance_ms(8 * day_ms);
    open();
    ASSERT_TRUE(append(direct_0, "k", "v"));
    x_log->maintain();
    EXPECT_EQ(range(direct_0).first, 0);
    x_clock.advance_ms(day_ms - 1);
    open();
    x_log->maintain();
    EXPECT_EQ(range(direct_0).first, 0);
    x_clock.advance_ms(1);
    x_log->maintain();
    EXPECT_EQ(range(direct_0).first, 3);
}

TEST_F(embedded_log, offsets_go_on_after_everything_has_expired) {
    open();
    append_many(promote_0, 10, 10);
    x_clock.advance_ms(30 * day_ms);
    x_log->maintain();
    open();
    EXPECT_EQ(*append(promote_0, "next", "v"), 10);
}

TEST_F(embedded_log, a_member_below_the_log_s_start_fails_and_says_where) {
    open();
    append_many(direct_0, 10, 10);
    x_clock.advance_ms(8 * day_ms);
    x_log->maintain();
    const auto member = x_log->join(std::string(group::direct), {std::string(topic::direct)});
    ASSERT_EQ(member->poll(100, 0).size(), static_cast<std::size_t>(partitions_default));
    const auto events = member->poll(100, 0);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_THAT(std::get<member_failure>(events[0]).reason.message,
                HasSubstr("offset 0 of deliveries.direct/0"));
}

TEST_F(embedded_log, compaction_spares_what_is_younger_than_its_lag_and_tombstones_for_a_day) {
    x_options.recent_bytes_max = 0;
    open();
    ASSERT_TRUE(append(subscribers_0, "a", "1"));
    ASSERT_TRUE(append(subscribers_0, "gone", "1"));
    ASSERT_TRUE(append(subscribers_0, "gone", std::nullopt));
    ASSERT_TRUE(append(subscribers_0, "a", "2"));
    x_log->maintain();
    EXPECT_THAT(values(subscribers_0, 0), ElementsAre("a=1", "gone=1", "gone=none", "a=2"));

    x_clock.advance_ms(3'600'001);
    ASSERT_TRUE(append(subscribers_0, "a", "3"));
    x_log->maintain();
    EXPECT_THAT(values(subscribers_0, 0), ElementsAre("gone=none", "a=3"));

    x_clock.advance_ms(day_ms);
    ASSERT_TRUE(append(subscribers_0, "b", "1"));
    ASSERT_TRUE(append(subscribers_0, "b", "2"));
    x_log->maintain();
    EXPECT_THAT(values(subscribers_0, 0), ElementsAre("a=3", "b=1", "b=2"));

    open();
    EXPECT_EQ(range(subscribers_0).first, 0);
    EXPECT_EQ(range(subscribers_0).next, 7);
    EXPECT_THAT(values(subscribers_0, 0), ElementsAre("a=3", "b=1", "b=2"));

    // The last record always stays: it tells the next offset.
    ASSERT_TRUE(append(subscribers_0, "b", std::nullopt));
    x_clock.advance_ms(2 * day_ms);
    x_log->maintain();
    open();
    EXPECT_EQ(range(subscribers_0).next, 8);
    EXPECT_THAT(values(subscribers_0, 0), ElementsAre("a=3", "b=none"));
}

TEST_F(embedded_log, compaction_runs_by_itself) {
    x_options = without_lag(0);
    x_options.compaction_appends_min = 10;
    x_options.maintenance_interval_ms = 5;
    open();
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(append(subscribers_0, "a", std::to_string(i)));
    const auto deadline = steady_clock::now() + patience;
    while (read(subscribers_0, 0)->size() > 1 && steady_clock::now() < deadline) std::this_thread::yield();
    EXPECT_THAT(values(subscribers_0, 0), ElementsAre("a=9"));
}

}  // namespace
}  // namespace herald::test
