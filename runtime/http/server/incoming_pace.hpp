// How long the bytes of a request may take to come. Pure: steady milliseconds in, steady milliseconds out.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::runtime::http::server {

struct connection_limits;

/// Of one connection, to which it belongs: one request after another.
class incoming_pace {
  public:
    explicit incoming_pace(const connection_limits& bounds) : x_bounds(bounds) {}

    enum class phase : std::uint8_t { idle, header, body };
    /// Until when the next bytes of a request must be here that is awaited as a whole. `body_bytes` came so
    /// far.
    std::int64_t until_ms(phase, std::size_t body_bytes, std::int64_t now_ms) noexcept;

    /// How long the next piece of a streamed body may take: of all the time that a body of this size has,
    /// what is left, and not more for one piece than for any.
    std::int64_t ms_for_piece(std::size_t body_bytes) const noexcept;
    void waited_for_piece(std::int64_t ms) noexcept { x_waited_ms += ms; }

    void next_request() noexcept;

  private:
    std::int64_t ms_for_body(std::size_t bytes) const noexcept;

    const connection_limits& x_bounds;
    bool x_has_phase = false;
    phase x_phase = phase::idle;
    std::int64_t x_phase_since_ms = 0;
    std::int64_t x_waited_ms = 0;
};

}  // namespace herald::runtime::http::server
