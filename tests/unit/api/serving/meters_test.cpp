// What is counted of predictions is what the log decides on: nothing is lost between threads or counted
// twice.
#include "api/serving/meters.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

namespace herald::api::serving {
namespace {

TEST(canary_meter, sums_what_every_loop_has_counted) {
    canary_meter meter(4);
    std::vector<std::thread> loops;
    for (std::size_t loop = 0; loop < 4; ++loop)
        loops.emplace_back([&meter, loop] {
            for (int count = 0; count < 10'000; ++count) meter.count(loop, 200, 100);
        });
    for (std::thread& each : loops) each.join();
    const auto sum = meter.sum();
    EXPECT_EQ(sum.requests, 40'000u);
    EXPECT_EQ(sum.latency_us_sum, 4'000'000u);
    ASSERT_EQ(sum.latencies.size(), 1u);
    EXPECT_EQ(sum.latencies[0].bucket, schemas::latency_bucket_of(100));
    EXPECT_EQ(sum.latencies[0].count, 40'000u);
}

TEST(canary_meter, counts_as_errors_what_the_model_is_to_blame_for) {
    canary_meter meter(1);
    for (const auto status :
         std::array<std::uint16_t, 11>{200, 400, 401, 403, 404, 408, 413, 429, 500, 502, 504})
        meter.count(0, status, 1);
    const auto sum = meter.sum();
    EXPECT_EQ(sum.requests, 11u);
    EXPECT_EQ(sum.errors_4xx, 2u);  // 400 and 413
    EXPECT_EQ(sum.errors_5xx, 3u);
}

TEST(canary_meter, a_loop_that_it_was_not_told_of_counts_in_the_last_cell) {
    canary_meter meter(2);
    meter.count(7, 200, 1);
    EXPECT_EQ(meter.sum().requests, 1u);
}

TEST(canary_meter, an_interval_is_the_difference_of_two_sums) {
    canary_meter meter(1);
    meter.count(0, 200, 10);
    meter.count(0, 500, 1'000);
    const auto before = meter.sum();
    meter.count(0, 200, 10);
    meter.count(0, 200, 50'000);
    const auto counts = counted_between(before, meter.sum());
    EXPECT_EQ(counts.requests, 2u);
    EXPECT_EQ(counts.errors_5xx, 0u);
    EXPECT_EQ(counts.latency_us_sum, 50'010u);
    ASSERT_EQ(counts.latencies.size(), 2u);
    EXPECT_EQ(counts.latencies[0], (schemas::latency_bucket{schemas::latency_bucket_of(10), 1}));
    EXPECT_EQ(counts.latencies[1], (schemas::latency_bucket{schemas::latency_bucket_of(50'000), 1}));
}

TEST(canary_meter, sums_up_to_counts_that_the_log_takes_while_requests_are_counted) {
    canary_meter meter(2);
    std::atomic<bool> is_over = false;
    std::vector<std::thread> loops;
    for (std::size_t loop = 0; loop < 2; ++loop)
        loops.emplace_back([&, loop] {
            for (std::uint64_t count = 0; !is_over; ++count) meter.count(loop, 500, count % 100'000);
        });
    auto before = meter.sum();
    bool is_good = true;  // what fails ends the loop, not the test: the threads must be joined
    for (int interval = 0; is_good && interval < 20'000; ++interval) {
        auto after = meter.sum();
        const auto counts = counted_between(before, after);
        std::uint64_t in_buckets = 0;
        for (const schemas::latency_bucket& each : counts.latencies) in_buckets += each.count;
        is_good = in_buckets == counts.requests && counts.errors_5xx <= counts.requests;
        EXPECT_TRUE(is_good) << in_buckets << " in buckets, " << counts.requests << " requests, "
                             << counts.errors_5xx << " errors";
        before = std::move(after);
    }
    is_over = true;
    for (std::thread& each : loops) each.join();
}

TEST(canary_meter, an_error_counted_before_its_request_is_none_of_the_interval) {
    schemas::component_counts before, after;
    after.requests = 2;
    after.errors_4xx = 3;
    after.errors_5xx = 4;
    const auto counts = counted_between(before, after);
    EXPECT_EQ(counts.errors_4xx, 2u);
    EXPECT_EQ(counts.errors_5xx, 2u);
}

TEST(endpoint_meter, has_as_many_places_as_the_limit_and_gets_them_back) {
    endpoint_meter meter("/limited");
    EXPECT_TRUE(meter.begin(2));
    EXPECT_TRUE(meter.begin(2));
    EXPECT_FALSE(meter.begin(2));
    EXPECT_EQ(meter.in_flight(), 2u);
    meter.end();
    EXPECT_TRUE(meter.begin(2));
    meter.end();
    meter.end();
    EXPECT_EQ(meter.in_flight(), 0u);
}

TEST(endpoint_meter, is_shown_by_its_own_name_among_a_thousand_and_only_as_long_as_it_is_there) {
    const std::string mine = R"({endpoint="/e999",outcome="answered"} 1)";
    {
        std::vector<std::unique_ptr<endpoint_meter>> meters;
        for (int at = 0; at < 1'000; ++at) {
            meters.push_back(std::make_unique<endpoint_meter>("/e" + std::to_string(at)));
            meters.back()->count(200, 100);
        }
        EXPECT_NE(runtime::metrics_text().find(mine), std::string::npos);
    }
    EXPECT_EQ(runtime::metrics_text().find("endpoint=\"/e"), std::string::npos);
}

}  // namespace
}  // namespace herald::api::serving
