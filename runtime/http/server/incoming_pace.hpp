// How long the bytes of a request that is awaited as a whole may take to arrive. Pure: steady milliseconds in
// and out.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::runtime::http::server {

struct connection_limits;

/// Member of a connection; serves its requests one after another.
class incoming_pace {
  public:
    explicit incoming_pace(const connection_limits& bounds) : x_bounds(bounds) {}

    enum class phase : std::uint8_t { idle, header, body };
    /// The time by which the next bytes must arrive, for a request that is awaited as a whole. `body_bytes`
    /// have arrived so far.
    std::int64_t until_ms(phase, std::size_t body_bytes, std::int64_t now_ms) noexcept;

    void next_request() noexcept { x_has_phase = false; }

  private:
    std::int64_t ms_for_body(std::size_t bytes) const noexcept;

    const connection_limits& x_bounds;
    bool x_has_phase = false;
    phase x_phase = phase::idle;
    std::int64_t x_phase_since_ms = 0;
};

}  // namespace herald::runtime::http::server
