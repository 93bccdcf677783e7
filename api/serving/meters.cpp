#include "api/serving/meters.hpp"

#include <algorithm>

#include "runtime/metric_names.hpp"

namespace herald::api::serving {
namespace {

constexpr std::array<const char*, prediction_outcomes> outcome_labels{"answered", "refused", "unauthorized",
                                                                      "too_many", "failed"};

/// 4xx that say something about the model: not those by which Herald keeps callers away from it, and not
/// those of callers who left (408), because only how long they waited is known.
bool counts_as_4xx(std::uint16_t status) {
    return status >= 400 && status < 500 && status != 401 && status != 403 && status != 404 &&
           status != 408 && status != 429;
}

}  // namespace

canary_meter::canary_meter(std::size_t loops) : x_cells(loops == 0 ? 1 : loops) {}

void canary_meter::count(std::size_t loop, std::uint16_t status, std::uint64_t latency_us) noexcept {
    constexpr auto relaxed = std::memory_order_relaxed;
    cell& mine = x_cells[loop < x_cells.size() ? loop : x_cells.size() - 1];
    if (counts_as_4xx(status)) mine.errors_4xx.fetch_add(1, relaxed);
    if (status >= 500) mine.errors_5xx.fetch_add(1, relaxed);
    mine.latency_us_sum.fetch_add(latency_us, relaxed);
    mine.latencies[schemas::latency_bucket_of(latency_us)].fetch_add(1, relaxed);
}

schemas::component_counts canary_meter::sum() const {
    constexpr auto relaxed = std::memory_order_relaxed;
    schemas::component_counts out;
    std::array<std::uint64_t, schemas::latency_buckets> buckets{};
    for (const cell& each : x_cells) {
        out.errors_4xx += each.errors_4xx.load(relaxed);
        out.errors_5xx += each.errors_5xx.load(relaxed);
        out.latency_us_sum += each.latency_us_sum.load(relaxed);
        for (std::size_t bucket = 0; bucket < buckets.size(); ++bucket)
            buckets[bucket] += each.latencies[bucket].load(relaxed);
    }
    for (std::uint32_t bucket = 0; bucket < buckets.size(); ++bucket)
        if (buckets[bucket] > 0) {
            out.latencies.push_back({bucket, buckets[bucket]});
            out.requests += buckets[bucket];
        }
    return out;
}

schemas::component_counts counted_between(const schemas::component_counts& before,
                                          const schemas::component_counts& after) {
    schemas::component_counts out;
    out.requests = after.requests - before.requests;
    // A request that is being counted meanwhile may be among the errors before it is among the requests.
    out.errors_4xx = std::min(after.errors_4xx - before.errors_4xx, out.requests);
    out.errors_5xx = std::min(after.errors_5xx - before.errors_5xx, out.requests);
    out.latency_us_sum = after.latency_us_sum - before.latency_us_sum;
    auto earlier = before.latencies.begin();
    for (const schemas::latency_bucket& each : after.latencies) {
        while (earlier != before.latencies.end() && earlier->bucket < each.bucket) ++earlier;
        const bool was_there = earlier != before.latencies.end() && earlier->bucket == each.bucket;
        const std::uint64_t count = each.count - (was_there ? earlier->count : 0);
        if (count > 0) out.latencies.push_back({each.bucket, count});
    }
    return out;
}

endpoint_meter::endpoint_meter(const std::string& path)
    : x_in_flight_shown(runtime::held_gauge(runtime::metrics::predictions_in_flight, {{"endpoint", path}})),
      x_latencies(runtime::held_histogram(runtime::metrics::prediction_seconds, {{"endpoint", path}})) {
    for (std::size_t place = 0; place < prediction_outcomes; ++place)
        x_outcomes[place] = runtime::held_counter(runtime::metrics::predictions,
                                                  {{"endpoint", path}, {"outcome", outcome_labels[place]}});
}

endpoint_meter::~endpoint_meter() = default;

}  // namespace herald::api::serving
