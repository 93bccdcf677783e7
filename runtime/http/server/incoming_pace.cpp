#include "runtime/http/server/incoming_pace.hpp"

#include <utility>

#include "runtime/http/server/server.hpp"

namespace herald::runtime::http::server {

std::int64_t incoming_pace::until_ms(phase now_in, std::size_t body_bytes, std::int64_t now_ms) noexcept {
    if (!std::exchange(x_has_phase, true) || now_in != x_phase) {
        x_phase = now_in;
        x_phase_since_ms = now_ms;
    }
    switch (x_phase) {
        case phase::idle:
            return x_phase_since_ms + x_bounds.idle_ms;
        case phase::header:
            return x_phase_since_ms + x_bounds.header_ms;
        case phase::body:
            break;
    }
    return x_phase_since_ms + ms_for_body(body_bytes);
}

std::int64_t incoming_pace::ms_for_body(std::size_t bytes) const noexcept {
    return x_bounds.body_ms_base + static_cast<std::int64_t>(bytes) * 1000 / 1024;
}

}  // namespace herald::runtime::http::server
