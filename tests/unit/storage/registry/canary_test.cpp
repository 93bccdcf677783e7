// Protects the numbers of canaries: decimals, histograms and rules, exactly and the same on every node.
#include "storage/registry/rules/canary.hpp"
#include <gtest/gtest.h>

#include "schemas/latency_buckets.hpp"

namespace herald::storage::registry::rules {
namespace {

using schemas::component_counts;
using schemas::latency_bucket_begin;
using schemas::latency_bucket_of;

TEST(millionths, are_read_exactly) {
    const std::vector<std::pair<std::string, std::uint64_t>> good{{"0", 0},
                                                                  {"1", 1'000'000},
                                                                  {"0.25", 250'000},
                                                                  {".5", 500'000},
                                                                  {"1.", 1'000'000},
                                                                  {"0.0000019", 1},
                                                                  {"5e-3", 5'000},
                                                                  {"1E+2", 100'000'000},
                                                                  {"1e-05", 10},
                                                                  {"999999.999999", 999'999'999'999},
                                                                  {"0000000000000000000000.1", 100'000},
                                                                  {"0.10000000000000000000001", 100'000},
                                                                  {"1e-99", 0}};
    for (const auto& [text, value] : good) {
        const auto read = millionths_of("step", text);
        ASSERT_TRUE(read) << text;
        EXPECT_EQ(*read, value) << text;
    }
    for (const char* bad : {"", ".", "e3", "-1", "+1", "1e", "1e200", "1000000", "1e6", "0x1", "1,5", " 1",
                            "1 ", "nan", "inf", "99999999999999999999999"})
        EXPECT_FALSE(millionths_of("step", bad)) << bad;
}

TEST(millionths, are_shown_as_they_are_read) {
    for (const std::uint64_t value :
         {0ull, 1ull, 10ull, 250'000ull, 1'000'000ull, 1'500'000ull, 999'999'999'999ull})
        EXPECT_EQ(*millionths_of("step", decimal_of(value)), value) << decimal_of(value);
    EXPECT_EQ(decimal_of(250'000), "0.25");
    EXPECT_EQ(decimal_of(3'000'000), "3");
}

TEST(latency_buckets, hold_each_latency_with_an_error_of_at_most_six_percent) {
    for (std::uint64_t us = 1; us < (1ull << 31); us += us / 50 + 1) {
        const std::uint32_t bucket = latency_bucket_of(us);
        EXPECT_LE(latency_bucket_begin(bucket), us);
        EXPECT_GT(latency_bucket_begin(bucket + 1), us);
        const double middle = static_cast<double>(schemas::latency_of_bucket(bucket));
        EXPECT_LE(std::abs(middle - static_cast<double>(us)), 0.07 * static_cast<double>(us) + 0.5) << us;
    }
    EXPECT_LT(latency_bucket_of(~0ull), schemas::latency_buckets);
}

component_counts counts_of(std::initializer_list<std::uint64_t> latencies) {
    component_counts all;
    for (const std::uint64_t us : latencies) {
        component_counts one;
        one.requests = 1;
        one.latency_us_sum = us;
        one.latencies = {{latency_bucket_of(us), 1}};
        add_counts(all, one);
    }
    return all;
}

TEST(counts, are_added_bucket_by_bucket) {
    const component_counts all = counts_of({100, 5, 100, 7'000'000});
    EXPECT_EQ(all.requests, 4u);
    EXPECT_EQ(all.latency_us_sum, 7'000'205u);
    ASSERT_EQ(all.latencies.size(), 3u);
    EXPECT_EQ(all.latencies[1].count, 2u);
    EXPECT_TRUE(check_counts(all));
}

TEST(counts, that_cannot_be_are_refused) {
    const component_counts good = counts_of({1, 2, 3});
    component_counts bad = good;
    bad.errors_4xx = 4;
    EXPECT_FALSE(check_counts(bad));
    bad = good;
    bad.errors_5xx = 4;
    EXPECT_FALSE(check_counts(bad));
    bad = good;
    bad.requests = 4;
    EXPECT_FALSE(check_counts(bad)) << "one is in no bucket";
    bad = good;
    std::swap(bad.latencies[0], bad.latencies[1]);
    EXPECT_FALSE(check_counts(bad));
    bad = good;
    bad.latencies[2].bucket = schemas::latency_buckets;
    EXPECT_FALSE(check_counts(bad));
    bad = good;
    bad.requests = bad.latencies[0].count = 1ull << 50;
    EXPECT_FALSE(check_counts(bad));
}

TEST(rules_of_canaries, compare_what_was_found_with_the_threshold) {
    const auto breaks = [](std::uint32_t rule, std::uint64_t threshold, const component_counts& counts) {
        return broken_rule({60, 100'000, {{rule, threshold}}}, counts).has_value();
    };
    component_counts all =
        counts_of({1'000, 1'000, 1'000, 1'000, 1'000, 1'000, 1'000, 1'000, 1'000, 500'000});
    all.errors_4xx = 1;
    all.errors_5xx = 2;
    EXPECT_TRUE(breaks(1005, 50'899, all));
    EXPECT_FALSE(breaks(1005, 50'900, all));
    EXPECT_LT(latency_p90_us(all), 1'100u) << "one of ten may be slower";
    EXPECT_TRUE(breaks(1006, 900, all));
    EXPECT_FALSE(breaks(1006, 1'100, all));
    EXPECT_GT(latency_p90_us(counts_of({1, 1, 500'000})), 400'000u);
    EXPECT_TRUE(breaks(1007, 99'999, all));
    EXPECT_FALSE(breaks(1007, 100'000, all));
    EXPECT_TRUE(breaks(1008, 199'999, all));
    EXPECT_FALSE(breaks(1008, 200'000, all));
}

}  // namespace
}  // namespace herald::storage::registry::rules
