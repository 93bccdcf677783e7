// Protects operators: they learn of failed deliveries, and one dead receiver does not drown out the others.
#include "workers/delivery_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/metrics.hpp"

namespace herald::test {
namespace {

using namespace workers;

using schemas::attempt_result;
using ::testing::HasSubstr;

schemas::attempt attempt_of(std::uint64_t webhook, attempt_result result) {
    schemas::attempt attempt;
    attempt.webhook_id = {webhook};
    attempt.event_type = schemas::event_type::promote;
    attempt.number = 1;
    attempt.result = result;
    attempt.time_ms = 10'000;
    attempt.total_us = 20'000;
    return attempt;
}

TEST(delivery_report, a_webhook_that_fails_all_the_time_gets_a_few_lines_a_minute_and_a_count) {
    delivery_report report;
    for (std::uint64_t line = 0; line < delivery_report::lines_max; ++line)
        EXPECT_EQ(report.may_tell({1}, attempt_result::will_retry, 0), 0u);
    for (int left_out = 0; left_out < 7; ++left_out)
        EXPECT_FALSE(report.may_tell({1}, attempt_result::will_retry, 59'999));
    EXPECT_EQ(report.may_tell({2}, attempt_result::will_retry, 59'999), 0u) << "another webhook";
    EXPECT_EQ(report.may_tell({1}, attempt_result::dead, 59'999), 0u) << "what is worse";
    EXPECT_EQ(report.may_tell({1}, attempt_result::will_retry, 60'000), 7u);
    EXPECT_EQ(report.may_tell({1}, attempt_result::will_retry, 60'000), 0u);
}

TEST(delivery_report, attempts_deliveries_and_deaths_are_metrics) {
    delivery_report report;
    schemas::event event;
    event.time_ms = 9'000;
    report.saw(attempt_of(1, attempt_result::succeeded), event, "one", 0);
    auto failed = attempt_of(1, attempt_result::dead);
    failed.error = schemas::delivery_error::timeout;
    report.saw(failed, event, "one", 0);
    failed.disable_webhook = true;
    report.saw(failed, event, "one", 0);
    auto test = attempt_of(1, attempt_result::dead);
    test.source = schemas::delivery_source::test;
    test.error = schemas::delivery_error::timeout;
    report.saw(test, event, "one", 0);
    auto none = attempt_of(1, attempt_result::dead);
    none.number = 0;
    report.saw(none, event, "one", 0);
    event.refused = "too large";
    report.saw(none, event, "one", 0);
    const std::string text = runtime::metrics_text();
    EXPECT_THAT(text, HasSubstr("herald_delivery_seconds_sum{event=\"PROMOTE\"} 1.02"));
    EXPECT_THAT(text, HasSubstr("herald_delivery_seconds_bucket{event=\"PROMOTE\",le="));
    EXPECT_THAT(text, HasSubstr("herald_attempt_seconds_count{result=\"succeeded\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("herald_attempt_seconds_count{result=\"dead\"} 3\n"));
    EXPECT_THAT(text, HasSubstr("herald_dead_total{reason=\"timeout\"} 1\n")) << "tests are never dead";
    EXPECT_THAT(text, HasSubstr("herald_dead_total{reason=\"gone\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("herald_dead_total{reason=\"backlog\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("herald_dead_total{reason=\"refused\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("herald_webhook_attempts_total{webhook=\"1\",result=\"succeeded\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("herald_webhook_attempts_total{webhook=\"1\",result=\"failed\"} 2\n"))
        << "neither tests nor deliveries without an attempt";
}

TEST(delivery_report, each_attempt_is_one_line_and_a_delivery_without_one_is_none) {
    delivery_report report;
    auto made = attempt_of(7, attempt_result::succeeded);
    made.delivery_id = "d1";
    made.status = 204;
    made.address = "203.0.113.5";
    made.event_id = "e1";
    made.resource_type = schemas::resource_type::registered_model_version;
    made.resource_id = "12";
    schemas::event event;
    event.workspace_name = "fraud team";
    event.subject = "fraud/v3";
    testing::internal::CaptureStderr();
    report.saw(made, event, "one", 0);
    made.source = schemas::delivery_source::test;
    report.saw(made, event, "one", 0);
    made.number = 0;
    report.saw(made, event, "one", 0);
    const std::string lines = testing::internal::GetCapturedStderr();
    EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2);
    EXPECT_THAT(
        lines,
        HasSubstr(
            R"("event":"delivery_attempted","webhook_id":7,"webhook_name":"one",)"
            R"("workspace":"fraud team","delivery_id":"d1","event_id":"e1",)"
            R"("event_type":"PROMOTE","resource_type":"REGISTERED_MODEL_VERSION",)"
            R"("resource_id":"12","resource_name":"fraud/v3","source":"event","attempt":1,"result":"succeeded",)"
            R"("error":"none","status":204,"address":"203.0.113.5","duration_us":20000})"));
    EXPECT_THAT(lines, HasSubstr(R"("source":"test")"));
}

TEST(delivery_report, a_failed_delivery_is_one_line_with_all_that_its_event_is_about) {
    delivery_report report;
    schemas::event event;
    event.workspace_name = "fraud team";
    event.subject = "fraud/v3";
    auto made = attempt_of(7, attempt_result::held);
    made.number = 0;
    made.event_id = "e1";
    made.resource_type = schemas::resource_type::build;
    made.resource_id = "3";
    testing::internal::CaptureStderr();
    report.saw(made, event, "one", 0);
    const std::string line = testing::internal::GetCapturedStderr();
    EXPECT_THAT(line, HasSubstr(R"("event":"delivery_held","webhook_id":7,"webhook_name":"one",)"
                                R"("workspace":"fraud team","delivery_id":"","event_id":"e1",)"
                                R"("event_type":"PROMOTE","resource_type":"BUILD","resource_id":"3",)"
                                R"("resource_name":"fraud/v3",)"));
}

}  // namespace
}  // namespace herald::test
