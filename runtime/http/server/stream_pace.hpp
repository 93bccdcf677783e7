// How slowly the peer may send or read a streamed body. Pure: milliseconds and bytes in and out.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::runtime::http::server {

struct connection_limits;

/// Member of a connection. The peer has a time, connection_limits::stream_window_ms at first. It runs out
/// while the peer is waited for, and each byte gives some back, but never more than there was at first: what
/// came fast does not excuse a standstill later.
class stream_pace {
  public:
    explicit stream_pace(const connection_limits& bounds);

    void begin() noexcept { x_saved_bytes = x_saved_bytes_max; }
    /// The longest that the peer may be waited for.
    std::int64_t ms_left() const noexcept;
    /// It was waited for that long, and then these bytes were moved.
    void waited(std::int64_t ms, std::size_t bytes) noexcept;

  private:
    const std::int64_t x_bytes_per_second;
    const std::int64_t x_saved_bytes_max;
    const std::int64_t x_wait_ms_max;
    std::int64_t x_saved_bytes;  // the time that is left, at the slowest pace
};

}  // namespace herald::runtime::http::server
