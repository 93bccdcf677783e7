// What is counted of predictions, without locks: for a canary, by event loop; for operators and
// for the limit of what is in flight, by endpoint.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/metrics.hpp"
#include "schemas/endpoints.hpp"
#include "schemas/latency_buckets.hpp"

namespace herald::api::serving {

/// How a prediction ended, for metrics.
enum class prediction_outcome : std::uint8_t {
    answered,      // 2xx
    refused,       // the caller's fault: 4xx, but for the next two
    unauthorized,  // 401, 403, 404
    too_many,      // 429
    failed,        // 5xx
};
inline constexpr std::size_t prediction_outcomes = 5;

constexpr prediction_outcome outcome_of(std::uint16_t status) noexcept {
    if (status < 400) return prediction_outcome::answered;
    if (status == 401 || status == 403 || status == 404) return prediction_outcome::unauthorized;
    if (status == 429) return prediction_outcome::too_many;
    return status < 500 ? prediction_outcome::refused : prediction_outcome::failed;
}

/// Of the component that a canary has brought to a stage, since the canary began. Each event loop counts in a
/// cell of its own; any thread sums them up.
class canary_meter {
  public:
    /// `loops`: of event_loops; a loop index beyond counts in the last cell.
    explicit canary_meter(std::size_t loops);

    void count(std::size_t loop, std::uint16_t status, std::uint64_t latency_us) noexcept;
    /// Since the beginning: an interval's counts are the difference of two sums.
    schemas::component_counts sum() const;

  private:
    struct alignas(64) cell {
        std::atomic<std::uint64_t> errors_4xx{0};
        std::atomic<std::uint64_t> errors_5xx{0};
        std::atomic<std::uint64_t> latency_us_sum{0};
        std::array<std::atomic<std::uint32_t>, schemas::latency_buckets> latencies{};
    };

    std::vector<cell> x_cells;
};

/// What was counted between two sums of one meter.
schemas::component_counts counted_between(const schemas::component_counts& before,
                                          const schemas::component_counts& after);

/// Of one endpoint, as long as it is there. Thread-safe.
class endpoint_meter {
  public:
    explicit endpoint_meter(const std::string& path);
    ~endpoint_meter();
    endpoint_meter(const endpoint_meter&) = delete;
    endpoint_meter& operator=(const endpoint_meter&) = delete;

    /// Takes a place among those in flight, to be given back by end(). False: there are `max` already.
    bool begin(std::uint32_t max) noexcept {
        if (x_in_flight.fetch_add(1, std::memory_order_relaxed) >= max) {
            x_in_flight.fetch_sub(1, std::memory_order_relaxed);
            return false;
        }
        x_in_flight_shown->add(1);
        return true;
    }
    void end() noexcept {
        x_in_flight.fetch_sub(1, std::memory_order_relaxed);
        x_in_flight_shown->add(-1);
    }
    /// The same for long bodies that wait to be read.
    bool begin_reading(std::uint32_t max) noexcept {
        if (x_being_read.fetch_add(1, std::memory_order_relaxed) < max) return true;
        end_reading();
        return false;
    }
    void end_reading() noexcept { x_being_read.fetch_sub(1, std::memory_order_relaxed); }
    /// Once for each prediction that was answered or refused, but for bodies that never came whole.
    void count(std::uint16_t status, std::int64_t latency_us) noexcept {
        x_outcomes[static_cast<std::size_t>(outcome_of(status))]->add();
        x_latencies->observe_us(latency_us);
    }
    std::uint32_t in_flight() const noexcept { return x_in_flight.load(std::memory_order_relaxed); }

  private:
    std::atomic<std::uint32_t> x_in_flight{0};
    std::atomic<std::uint32_t> x_being_read{0};
    // Shown as long as the endpoint is there:
    const std::shared_ptr<runtime::gauge> x_in_flight_shown;  // of all endpoints that share the label
    std::array<std::shared_ptr<runtime::counter>, prediction_outcomes> x_outcomes;
    const std::shared_ptr<runtime::histogram> x_latencies;
};

}  // namespace herald::api::serving
