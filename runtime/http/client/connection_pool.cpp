// A short list: searching it costs less than anything else in a delivery.
#include "runtime/http/client/connection_pool.hpp"

#include <algorithm>

namespace herald::runtime::http::client {

using std::chrono::steady_clock;

namespace {
constexpr std::chrono::seconds sweep_interval(1);
}

connection_pool::connection_pool(boost::asio::io_context& io, std::size_t count_max, std::int64_t idle_ms_max)
    : x_count_max(count_max), x_idle_max(idle_ms_max), x_timer(io) {}

void connection_pool::put(const std::string& receiver, const ip_address& address,
                          std::shared_ptr<connection> connection) {
    if (x_count_max == 0) return;
    if (x_idle.size() >= x_count_max) drop_oldest();
    x_idle.push_back({receiver, address, std::move(connection), steady_clock::now() + x_idle_max});
    sweep_later();
}

connection_pool::taken connection_pool::take(const std::string& receiver,
                                             std::span<const ip_address> addresses) {
    for (auto at = x_idle.begin(); at != x_idle.end();) {
        const bool fits = at->receiver == receiver &&
                          std::find(addresses.begin(), addresses.end(), at->address) != addresses.end();
        if (!fits) {
            ++at;
            continue;
        }
        const taken found{at->held, at->address};
        at = x_idle.erase(at);
        if (found.held->is_quiet()) return found;
    }
    return {};
}

bool connection_pool::drop_oldest() {
    if (x_idle.empty()) return false;
    x_idle.pop_front();
    return true;
}

bool connection_pool::drop_oldest_of(std::string_view end_of_receiver) {
    const auto found = std::find_if(x_idle.begin(), x_idle.end(), [&](const idle& one) {
        return std::string_view(one.receiver).ends_with(end_of_receiver);
    });
    if (found == x_idle.end()) return false;
    x_idle.erase(found);
    return true;
}

void connection_pool::close() {
    x_idle.clear();
    x_timer.cancel();
}

void connection_pool::sweep_later() {
    if (std::exchange(x_timer_set, true)) return;
    x_timer.expires_after(sweep_interval);
    // The pool may be destroyed after the timer is due and before this runs.
    x_timer.async_wait([weak = weak_from_this()](boost::system::error_code ec) {
        const auto self = weak.lock();
        if (self && !ec) self->sweep();
    });
}

void connection_pool::sweep() {
    x_timer_set = false;
    const auto now = steady_clock::now();
    std::erase_if(x_idle, [&](const idle& one) { return one.until <= now || !one.held->is_quiet(); });
    if (!x_idle.empty()) sweep_later();
}

}  // namespace herald::runtime::http::client
