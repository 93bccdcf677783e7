// Every request of a canary's component is counted in exactly one interval, and the log hears of it before
// the interval is judged.
#include "api/serving/canary_reports.hpp"

#include <gtest/gtest.h>

#include "api/serving/limits.hpp"
#include "schemas/commands/serving.hpp"
#include "serving_parts.hpp"
#include "tests/support/manual_scheduler.hpp"

namespace herald::api::serving {
namespace {

using schemas::commands::report_canary;

class canary_reports_test : public testing::Test {
  protected:
    void count(int requests) {
        for (int each = 0; each < requests; ++each) counted->count(0, 200, 100);
    }
    canary_interval interval_of(std::uint32_t number, std::int64_t ends_in_ms) {
        return {{5}, number, scheduler.clock().wall_ms() + ends_in_ms};
    }
    std::vector<report_canary> told() const { return node.told<report_canary>(); }

    test::manual_scheduler scheduler;
    test::keeping_node node;
    std::shared_ptr<canary_meter> counted = std::make_shared<canary_meter>(1);
    std::shared_ptr<canary_reports> reports = std::make_shared<canary_reports>(
        canary_reports::parts{node, scheduler, runtime::system_random(), scheduler.time()});
};

TEST_F(canary_reports_test, an_interval_is_told_when_it_has_ended) {
    count(3);  // before the canary
    reports->begin(interval_of(1, 10'000), counted);
    scheduler.settle();
    count(7);
    scheduler.run_for(10'000 + limits::canary_report_delay_ms - 1);
    EXPECT_TRUE(told().empty());
    scheduler.run_for(2);
    ASSERT_EQ(told().size(), 1u);
    EXPECT_EQ(told()[0].update_id.value, 5u);
    EXPECT_EQ(told()[0].interval, 1u);
    EXPECT_EQ(told()[0].node, "n1");
    EXPECT_EQ(told()[0].counts.requests, 7u);
}

TEST_F(canary_reports_test, what_comes_after_the_report_counts_for_the_next_interval) {
    reports->begin(interval_of(1, 10'000), counted);
    scheduler.settle();
    scheduler.run_for(10'030);
    ASSERT_EQ(told().size(), 1u);
    count(2);
    scheduler.run_for(200);
    reports->begin(interval_of(2, 10'000), counted);
    scheduler.settle();
    count(5);
    scheduler.run_for(10'030);
    ASSERT_EQ(told().size(), 2u);
    EXPECT_EQ(told()[1].interval, 2u);
    EXPECT_EQ(told()[1].counts.requests, 7u);
}

TEST_F(canary_reports_test, an_interval_that_is_begun_twice_is_told_once) {
    reports->begin(interval_of(1, 10'000), counted);
    scheduler.settle();
    count(1);
    reports->begin(interval_of(1, 10'000), counted);
    scheduler.run_for(20'000);
    ASSERT_EQ(told().size(), 1u);
    EXPECT_EQ(told()[0].counts.requests, 1u);
}

TEST_F(canary_reports_test, what_the_log_does_not_take_is_told_again_with_the_same_counts) {
    node.refuse_next(1);
    reports->begin(interval_of(1, 10'000), counted);
    scheduler.settle();
    count(4);
    scheduler.run_for(10'030);
    EXPECT_TRUE(told().empty());
    count(100);
    scheduler.run_for(limits::report_retry_ms);
    ASSERT_EQ(told().size(), 1u);
    EXPECT_EQ(told()[0].counts.requests, 4u);
}

TEST_F(canary_reports_test, a_component_that_is_gone_is_told_of_no_more) {
    reports->begin(interval_of(1, 10'000), counted);
    scheduler.settle();
    counted.reset();
    scheduler.run_for(20'000);
    EXPECT_TRUE(told().empty());
}

}  // namespace
}  // namespace herald::api::serving
