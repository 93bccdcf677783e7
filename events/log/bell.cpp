#include "events/log/bell.hpp"

#include <utility>

namespace herald::events::log {

void bell::call(std::function<void()> notify) {
    {
        const runtime::lock_guard lock(x_calling);
        x_notify = std::move(notify);
    }
    reset();
    ring_again();
}

void bell::silence() {
    const runtime::lock_guard lock(x_calling);
    x_notify = nullptr;
}

bool bell::is_first_ring() {
    const runtime::lock_guard lock(x_mutex);
    x_changed.notify_all();
    return !std::exchange(x_is_rung, true);
}

void bell::ring() {
    if (!is_first_ring()) return;
    const runtime::lock_guard lock(x_calling);
    const std::function<void()> notify = x_notify;  // the call may call silence()
    if (notify) notify();
}

void bell::ring_again() {
    if (!is_first_ring()) return;
    const std::function<void()> notify = x_notify;
    if (notify) notify();
}

void bell::reset() {
    const runtime::lock_guard lock(x_mutex);
    x_is_rung = false;
}

void bell::wait_until(std::chrono::steady_clock::time_point deadline) {
    const runtime::lock_guard lock(x_mutex);
    x_changed.wait_until(x_mutex, deadline, [this]() REQUIRES(x_mutex) { return x_is_rung; });
}

}  // namespace herald::events::log
