// Protects a failing receiver from attempts, and the worker from the receiver: when the breaker opens, probes
// and closes.
#include "workers/breaker.hpp"

#include <gtest/gtest.h>

namespace herald::test {
namespace {

using namespace workers;

using admission = breaker::admission;

constexpr std::int64_t start_ms = 1'000'000;

void fail(breaker& subject, int times, std::int64_t now_ms) {
    for (int round = 0; round < times; ++round) subject.failed(admission::ordinary, now_ms);
}
void succeed(breaker& subject, int times, std::int64_t now_ms) {
    for (int round = 0; round < times; ++round) subject.succeeded(admission::ordinary, now_ms);
}

TEST(breaker, opens_after_ten_failures_in_a_row_for_thirty_seconds) {
    breaker subject;
    fail(subject, 9, start_ms);
    EXPECT_EQ(subject.would_admit(start_ms), admission::ordinary);
    fail(subject, 1, start_ms);
    EXPECT_EQ(subject.would_admit(start_ms), admission::refused);
    EXPECT_EQ(subject.would_admit(start_ms + 29'999), admission::refused);
    EXPECT_EQ(subject.would_admit(start_ms + 30'000), admission::probe);
}

TEST(breaker, a_success_between_breaks_the_row) {
    breaker subject;
    succeed(subject, 30, start_ms);
    fail(subject, 9, start_ms);
    succeed(subject, 1, start_ms);
    fail(subject, 9, start_ms);
    EXPECT_FALSE(subject.is_open());
}

TEST(breaker, opens_when_half_of_twenty_results_within_a_minute_are_failures) {
    breaker subject;
    for (int round = 0; round < 9; ++round) {
        succeed(subject, 1, start_ms);
        fail(subject, 1, start_ms);
    }
    succeed(subject, 1, start_ms);
    EXPECT_FALSE(subject.is_open()) << "9 of 19";
    fail(subject, 1, start_ms);
    EXPECT_TRUE(subject.is_open()) << "10 of 20";
}

TEST(breaker, failures_older_than_a_minute_do_not_count) {
    breaker subject;
    for (int round = 0; round < 9; ++round) {
        succeed(subject, 1, start_ms);
        fail(subject, 1, start_ms);
    }
    succeed(subject, 1, start_ms + 60'000);
    fail(subject, 1, start_ms + 60'000);
    EXPECT_FALSE(subject.is_open());
}

TEST(breaker, lets_one_probe_through_at_a_time) {
    breaker subject;
    fail(subject, 10, start_ms);
    const std::int64_t later = start_ms + 30'000;
    EXPECT_EQ(subject.admit(later), admission::probe);
    EXPECT_EQ(subject.would_admit(later), admission::refused);
    subject.abandoned(admission::probe);
    EXPECT_EQ(subject.would_admit(later), admission::probe) << "a probe that said nothing is repeated";
}

TEST(breaker, the_probes_success_closes_it) {
    breaker subject;
    fail(subject, 10, start_ms);
    subject.succeeded(subject.admit(start_ms + 30'000), start_ms + 30'001);
    EXPECT_FALSE(subject.is_open());
    fail(subject, 9, start_ms + 30'002);
    EXPECT_FALSE(subject.is_open()) << "old failures are forgotten";
}

TEST(breaker, each_failed_probe_doubles_the_time_up_to_an_hour) {
    breaker subject;
    fail(subject, 10, start_ms);
    std::int64_t now = start_ms;
    std::int64_t open_for = 30'000;
    for (int probe = 0; probe < 12; ++probe) {
        EXPECT_EQ(subject.would_admit(now + open_for - 1), admission::refused) << probe;
        now += open_for;
        ASSERT_EQ(subject.admit(now), admission::probe) << probe;
        subject.failed(admission::probe, now);
        open_for = std::min<std::int64_t>(2 * open_for, 3'600'000);
    }
    EXPECT_EQ(open_for, 3'600'000);
}

TEST(breaker, results_of_attempts_from_before_it_opened_change_nothing) {
    breaker subject;
    fail(subject, 10, start_ms);
    succeed(subject, 5, start_ms + 1);
    fail(subject, 5, start_ms + 20'000);
    EXPECT_EQ(subject.would_admit(start_ms + 29'999), admission::refused);
    EXPECT_EQ(subject.would_admit(start_ms + 30'000), admission::probe);
}

}  // namespace
}  // namespace herald::test
