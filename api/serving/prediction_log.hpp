// One line of the process's log for some of the predictions.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "api/serving/route_table.hpp"

namespace herald::api::serving {

/// Thread-safe.
class prediction_log {
  public:
    /// One of `each` predictions of an event loop is told; 0: none.
    explicit prediction_log(std::uint64_t each) : x_each(each) {}

    /// Whether this one is told. Cheap.
    bool wants() noexcept {
        if (x_each == 0) return false;
        return x_each == 1 || x_seen.fetch_add(1, std::memory_order_relaxed) % x_each == 0;
    }
    /// `component` may be null: it was refused before one was chosen.
    static void tell(const endpoint_route&, const component_route* component, std::uint16_t status,
                     std::int64_t duration_us, std::string_view request_id) noexcept;

  private:
    const std::uint64_t x_each;
    std::atomic<std::uint64_t> x_seen{0};
};

}  // namespace herald::api::serving
