#include "storage/registry/rules/canary.hpp"

#include <algorithm>
#include <charconv>

#include "schemas/latency_buckets.hpp"
#include "storage/registry/rules/limits.hpp"

namespace herald::storage::registry::rules {
namespace {

using schemas::canary_rule;
using schemas::canary_rule_kind;
using schemas::component_counts;
using schemas::latency_bucket;

constexpr int digits_of_million = 6;
constexpr std::uint64_t millionths_end = 1'000'000ull * 1'000'000;

bool is_decimal_digit(char c) { return c >= '0' && c <= '9'; }

/// The number's digits without point, and how many places the point is to the right of their begin.
struct decimal_parts {
    std::string digits;
    std::int64_t point = 0;
};

std::optional<decimal_parts> parts_of_decimal(std::string_view text) {
    decimal_parts parts;
    std::size_t at = 0;
    while (at < text.size() && is_decimal_digit(text[at])) parts.digits += text[at++];
    parts.point = static_cast<std::int64_t>(parts.digits.size());
    if (at < text.size() && text[at] == '.')
        for (++at; at < text.size() && is_decimal_digit(text[at]);) parts.digits += text[at++];
    if (parts.digits.empty()) return std::nullopt;
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        ++at;
        if (at < text.size() && text[at] == '+') ++at;
        int exponent = 0;
        const auto read = std::from_chars(text.data() + at, text.data() + text.size(), exponent);
        if (read.ec != std::errc() || exponent < -100 || exponent > 100) return std::nullopt;
        parts.point += exponent;
        at = static_cast<std::size_t>(read.ptr - text.data());
    }
    if (at != text.size()) return std::nullopt;
    return parts;
}

std::uint64_t rate_ppm(std::uint64_t part, std::uint64_t whole) { return part * schemas::whole_ppm / whole; }

std::optional<std::string> broken(const canary_rule& rule, const component_counts& counts) {
    std::uint64_t found = 0;
    std::string what, unit;
    switch (static_cast<canary_rule_kind>(rule.rule_id)) {
        case canary_rule_kind::latency_avg_max:
            found = counts.latency_us_sum / counts.requests;
            what = "the average latency", unit = " s";
            break;
        case canary_rule_kind::latency_p90_max:
            found = latency_p90_us(counts);
            what = "the latency of the slowest tenth", unit = " s";
            break;
        case canary_rule_kind::error_4xx_rate:
            found = rate_ppm(counts.errors_4xx, counts.requests);
            what = "the rate of errors 4xx";
            break;
        case canary_rule_kind::error_5xx_rate:
            found = rate_ppm(counts.errors_5xx, counts.requests);
            what = "the rate of errors 5xx";
            break;
    }
    if (found <= rule.threshold) return std::nullopt;
    return "rule " + std::to_string(rule.rule_id) + ": " + what + " was " + decimal_of(found) + unit +
           ", over the threshold of " + decimal_of(rule.threshold) + unit + ", in " +
           std::to_string(counts.requests) + " requests";
}

}  // namespace

result<std::uint64_t> millionths_of(std::string_view field, std::string_view text) {
    const auto wrong = [&] {
        return runtime::invalid_argument(
            {field, " is \"", text.substr(0, 40),
             "\"; it must be a decimal number such as 0.25, from 0 to below 1000000"});
    };
    const auto parts = parts_of_decimal(text);
    if (!parts) return wrong();
    std::uint64_t value = 0;
    const std::int64_t end = parts->point + digits_of_million;
    for (std::int64_t i = 0; i < end; ++i) {
        const auto at = static_cast<std::size_t>(i);
        value = value * 10 +
                (at < parts->digits.size() ? static_cast<std::uint64_t>(parts->digits[at] - '0') : 0);
        if (value >= millionths_end) return wrong();
    }
    return value;
}

std::string decimal_of(std::uint64_t millionths) {
    std::string text = std::to_string(millionths / schemas::whole_ppm);
    std::uint64_t rest = millionths % schemas::whole_ppm;
    if (rest == 0) return text;
    std::string places = std::to_string(schemas::whole_ppm + rest).substr(1);
    while (places.back() == '0') places.pop_back();
    return text + "." + places;
}

std::uint64_t latency_p90_us(const component_counts& counts) {
    const std::uint64_t slower = counts.requests / 10;
    std::uint64_t seen = 0;
    for (auto bucket = counts.latencies.rbegin(); bucket != counts.latencies.rend(); ++bucket) {
        seen += bucket->count;
        if (seen > slower) return schemas::latency_of_bucket(bucket->bucket);
    }
    return 0;
}

std::optional<std::string> broken_rule(const schemas::canary_plan& plan, const component_counts& counts) {
    for (const canary_rule& rule : plan.rules)
        if (auto why = broken(rule, counts)) return why;
    return std::nullopt;
}

result<void> check_counts(const component_counts& counts) {
    const auto wrong = [](const char* what) {
        return runtime::invalid_argument({"these counts of a canary cannot be: ", what});
    };
    if (counts.requests > limits::canary_requests_max || counts.latency_us_sum > (1ull << 60))
        return wrong("there are too many");
    if (counts.errors_4xx > counts.requests || counts.errors_5xx > counts.requests)
        return wrong("there are more errors than requests");
    if (counts.latencies.size() > schemas::latency_buckets) return wrong("there are too many buckets");
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < counts.latencies.size(); ++i) {
        const latency_bucket& each = counts.latencies[i];
        if (each.bucket >= schemas::latency_buckets || each.count == 0 || each.count > counts.requests ||
            (i > 0 && each.bucket <= counts.latencies[i - 1].bucket))
            return wrong("a bucket is out of order, empty or too full");
        sum += each.count;
    }
    if (sum != counts.requests) return wrong("the buckets do not hold all requests");
    return {};
}

void add_counts(component_counts& to, const component_counts& more) {
    if (to.requests + more.requests > limits::canary_requests_max) return;
    to.requests += more.requests;
    to.errors_4xx += more.errors_4xx;
    to.errors_5xx += more.errors_5xx;
    to.latency_us_sum = std::min(to.latency_us_sum + more.latency_us_sum, std::uint64_t{1} << 61);
    std::vector<latency_bucket> both;
    std::ranges::merge(to.latencies, more.latencies, std::back_inserter(both), {}, &latency_bucket::bucket,
                       &latency_bucket::bucket);
    to.latencies.clear();
    for (const latency_bucket& each : both)
        if (!to.latencies.empty() && to.latencies.back().bucket == each.bucket)
            to.latencies.back().count += each.count;
        else
            to.latencies.push_back(each);
}

}  // namespace herald::storage::registry::rules
