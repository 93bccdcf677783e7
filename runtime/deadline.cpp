#include "runtime/deadline.hpp"

namespace herald::runtime {

deadline::~deadline() {
    if (x_queued_ms) x_loop.remove(*x_queued_ms, *this);
}

void deadline::set(std::int64_t at_ms) {
    x_at_ms = at_ms;
    if (x_queued_ms && *x_queued_ms <= at_ms) return;
    if (x_queued_ms) x_loop.remove(*x_queued_ms, *this);
    x_queued_ms = at_ms;
    x_loop.add(at_ms, *this);
}

void deadline::due(std::int64_t now_ms) {
    x_queued_ms.reset();
    if (!x_at_ms) return;
    if (*x_at_ms > now_ms) return set(*x_at_ms);
    x_at_ms.reset();
    x_expired();
}

}  // namespace herald::runtime
