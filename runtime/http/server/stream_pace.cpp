#include "runtime/http/server/stream_pace.hpp"

#include <algorithm>

#include "runtime/http/server/server.hpp"

namespace herald::runtime::http::server {

stream_pace::stream_pace(const connection_limits& bounds)
    : x_bytes_per_second(bounds.stream_bytes_per_second),
      x_saved_bytes_max(bounds.stream_window_ms * x_bytes_per_second / 1000),
      x_wait_ms_max(bounds.piece_ms),
      x_saved_bytes(x_saved_bytes_max) {}

std::int64_t stream_pace::ms_left() const noexcept {
    return std::clamp<std::int64_t>(x_saved_bytes * 1000 / x_bytes_per_second, 0, x_wait_ms_max);
}

void stream_pace::waited(std::int64_t ms, std::size_t bytes) noexcept {
    x_saved_bytes -= ms * x_bytes_per_second / 1000;
    x_saved_bytes = std::min(x_saved_bytes + static_cast<std::int64_t>(bytes), x_saved_bytes_max);
}

}  // namespace herald::runtime::http::server
