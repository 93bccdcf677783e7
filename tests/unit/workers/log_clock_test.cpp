// Protects waits against wrong clocks: the log's time is inferred from its records.
#include "workers/log_clock.hpp"

#include <gtest/gtest.h>

namespace herald::test {
namespace {

using namespace workers;

constexpr std::int64_t second = 1'000;
constexpr std::int64_t minute = 60 * second;
constexpr std::int64_t hour = 60 * minute;

struct log_clock_test : testing::Test {
    std::int64_t steady() const { return own.steady_ms(); }
    std::int64_t now() const { return logs.now_ms(own); }
    /// What the log's own clock shows.
    std::int64_t truth() const { return 1'600'000'000'000 + steady() + log_stepped_ms; }
    void hear(std::int64_t age_ms = 0) { logs.heard(truth() - age_ms, steady()); }

    runtime::manual_clock own{1'600'000'000'000};
    std::int64_t log_stepped_ms = 0;
    log_clock logs;
};

TEST_F(log_clock_test, a_machine_an_hour_ahead_does_not_mislead_it) {
    own.jump_wall_ms(hour);
    hear();
    EXPECT_EQ(now(), truth());
    own.advance_ms(10 * minute);
    EXPECT_EQ(now(), truth());
}

TEST_F(log_clock_test, a_machine_an_hour_behind_does_not_mislead_it) {
    own.jump_wall_ms(-hour);
    hear();
    own.advance_ms(10 * minute);
    EXPECT_EQ(now(), truth());
}

TEST_F(log_clock_test, a_machine_whose_clock_steps_while_it_runs_does_not_mislead_it) {
    hear();
    for (const std::int64_t step : {hour, -3 * hour, 72 * hour}) {
        own.jump_wall_ms(step);
        own.advance_ms(minute);
        EXPECT_EQ(now(), truth());
    }
}

TEST_F(log_clock_test, a_step_forward_of_the_logs_clock_is_followed_at_once) {
    hear();
    log_stepped_ms = hour;
    hear();
    EXPECT_EQ(now(), truth());
}

TEST_F(log_clock_test, a_step_back_of_the_logs_clock_is_followed_after_three_records) {
    hear();
    log_stepped_ms = -hour;
    for (int record = 0; record < 3; ++record) {
        EXPECT_NE(now(), truth());
        hear();
    }
    EXPECT_EQ(now(), truth());
}

TEST_F(log_clock_test, of_records_that_came_late_the_freshest_counts) {
    hear(20 * second);
    EXPECT_EQ(now(), truth() - 20 * second);
    hear(10);
    own.advance_ms(minute);
    hear(hour);
    EXPECT_EQ(now(), truth() - 10);
}

TEST_F(log_clock_test, where_only_old_records_were_seen_it_is_late_and_never_early) {
    own.jump_wall_ms(hour);
    for (int record = 0; record < 10; ++record) {
        hear(minute);
        EXPECT_EQ(now(), truth() - minute);
        own.advance_ms(minute);
    }
}

TEST_F(log_clock_test, before_the_first_fresh_record_it_is_what_any_record_proves_and_no_wrong_clock_counts) {
    for (const std::int64_t step : {hour, -72 * hour}) {
        own.jump_wall_ms(step);
        EXPECT_EQ(log_clock().now_ms(own), own.wall_ms()) << "nothing was read at all";
        logs.saw(truth() - minute, steady());
        logs.saw(truth() - hour, steady());
        EXPECT_EQ(now(), truth() - minute);
    }
    EXPECT_FALSE(logs.is_known());
    hear();
    EXPECT_TRUE(logs.is_known());
    EXPECT_EQ(now(), truth());
}

}  // namespace
}  // namespace herald::test
