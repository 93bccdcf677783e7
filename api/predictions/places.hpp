// Places that an endpoint's predictions take, released with the object.
#pragma once

#include <cstdint>
#include <utility>

#include "api/predictions/limits.hpp"
#include "api/serving/meters.hpp"

namespace herald::api::predictions {

/// A place among the endpoint's predictions in flight.
class place_in_flight {
  public:
    explicit place_in_flight(serving::endpoint_meter& meter, std::uint32_t most)
        : x_meter(meter.begin(most) ? &meter : nullptr) {}
    place_in_flight(place_in_flight&& other) noexcept : x_meter(std::exchange(other.x_meter, nullptr)) {}
    ~place_in_flight() {
        if (x_meter) x_meter->end();
    }
    place_in_flight(const place_in_flight&) = delete;
    place_in_flight& operator=(const place_in_flight&) = delete;
    explicit operator bool() const noexcept { return x_meter != nullptr; }

  private:
    serving::endpoint_meter* x_meter;
};

/// A place among the endpoint's bodies that are read beside the loops: half of all, so that other endpoints
/// find one.
class place_to_read {
  public:
    explicit place_to_read(serving::endpoint_meter& meter)
        : x_meter(meter.begin_reading(limits::bodies_read_beside_loops_max / 2) ? &meter : nullptr) {}
    ~place_to_read() {
        if (x_meter) x_meter->end_reading();
    }
    place_to_read(const place_to_read&) = delete;
    place_to_read& operator=(const place_to_read&) = delete;
    explicit operator bool() const noexcept { return x_meter != nullptr; }

  private:
    serving::endpoint_meter* const x_meter;
};

}  // namespace herald::api::predictions
