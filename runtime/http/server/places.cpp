#include "runtime/http/server/places.hpp"

#include <sys/socket.h>

#include "runtime/assert.hpp"
#include "runtime/mutex.hpp"

namespace herald::runtime::http::server {

connection_places::connection_places(const connection_limits& bounds)
    : x_bounds(bounds),
      x_shown(runtime::metric_gauge(runtime::metrics::http_connections)),
      x_refused(runtime::metric_counter(runtime::metrics::http_connections_refused)),
      x_evicted(runtime::metric_counter(runtime::metrics::http_connections_evicted)) {}

connection_places::~connection_places() { HERALD_ASSERT(x_by_address.empty()); }

bool connection_places::is_full(const holder& of) const noexcept {
    return x_connections >= x_bounds.connections || of.connections >= x_bounds.connections_per_address;
}

std::unique_ptr<connection_places::place> connection_places::take(const std::string& address, int socket) {
    const runtime::lock_guard held(x_lock);
    const auto mine = x_by_address.try_emplace(address).first;
    holder& of = mine->second;
    while (is_full(of)) {
        place* const leaving =
            of.connections >= x_bounds.connections_per_address ? stranger_of(of) : any_stranger();
        if (!leaving) {
            x_refused.add();
            if (of.places == 0) x_by_address.erase(mine);
            return nullptr;
        }
        ask_to_leave(*leaving);
    }
    std::unique_ptr<place> out(new place(*this, mine, socket, x_next_number++));
    ++x_connections;
    ++of.connections;
    ++of.places;
    out->x_listed = of.strangers.insert(of.strangers.end(), out.get());
    rank_anew(of);
    x_shown.add(1);
    return out;
}

// The oldest stranger; one that has become known in the meantime is removed from the list.
connection_places::place* connection_places::stranger_of(holder& of) {
    while (!of.strangers.empty()) {
        place* const oldest = of.strangers.front();
        if (!oldest->is_known) return oldest;
        unlist(*oldest);
    }
    return nullptr;
}

connection_places::place* connection_places::any_stranger() {
    while (!x_by_rank.empty())
        if (place* const found = stranger_of(*x_by_rank.rbegin()->second)) return found;
    return nullptr;
}

// Its own loop notices the end of the connection and releases it: other threads touch only the socket, which
// stays open as long as the place exists.
void connection_places::ask_to_leave(place& who) {
    unlist(who);
    who.x_is_leaving = true;
    --x_connections;
    --who.x_of->second.connections;
    ++x_leaving;
    x_evicted.add();
    ::shutdown(who.x_socket, SHUT_RDWR);
}

void connection_places::unlist(place& who) {
    holder& of = who.x_of->second;
    of.strangers.erase(*who.x_listed);
    who.x_listed.reset();
    rank_anew(of);
}

void connection_places::rank_anew(holder& of) {
    if (of.ranked) x_by_rank.erase(*of.ranked);
    of.ranked.reset();
    if (of.strangers.empty()) return;
    of.ranked = rank{of.strangers.size(), UINT64_MAX - of.strangers.front()->x_number};
    x_by_rank.emplace(*of.ranked, &of);
}

void connection_places::remove(place& who) noexcept {
    const runtime::lock_guard held(x_lock);
    holder& of = who.x_of->second;
    if (who.x_listed) unlist(who);
    if (who.x_is_leaving) {
        --x_leaving;
    } else {
        --x_connections;
        --of.connections;
    }
    if (--of.places == 0) x_by_address.erase(who.x_of);
    x_shown.add(-1);
}

}  // namespace herald::runtime::http::server
