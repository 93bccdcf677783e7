// Who may be connected: the bounds in all and by address, and who goes when they are reached (design.md §1).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "runtime/http/limits.hpp"
#include "runtime/http/server/server.hpp"
#include "runtime/metrics.hpp"
#include "runtime/mutex.hpp"

namespace herald::runtime::http::server {

/// A stranger is a connection whose client has not authenticated yet. Where a bound is reached the oldest
/// stranger of the address with the most strangers is asked to leave (of the same address, where it is that
/// one's bound): so strangers push out each other, and a client from elsewhere finds room. A connection that
/// was asked to leave is not counted any more; while many of them are not gone yet, is_crowded() says to
/// accept nobody. Thread-safe.
class connection_places {
  public:
    class place;

    explicit connection_places(const connection_limits&);
    ~connection_places();

    /// A place for the connection of this socket, whose reads and writes end when it is to leave. Null when a
    /// bound is reached and nobody can be asked. The place must end before the socket is closed.
    std::unique_ptr<place> take(const std::string& address, int socket);
    bool is_crowded() const noexcept { return x_leaving >= limits::connections_leaving_max; }

  private:
    // The more strangers an address has, and the older its oldest, the later in order.
    using rank = std::pair<std::size_t, std::uint64_t>;
    struct holder {
        std::size_t connections = 0;  // those that leave are not counted
        std::size_t places = 0;       // these are
        std::list<place*> strangers;  // oldest first
        std::optional<rank> ranked;   // where x_by_rank has it
    };
    using holders = std::map<std::string, holder>;

    bool is_full(const holder& of) const noexcept REQUIRES(x_lock);
    place* stranger_of(holder&) REQUIRES(x_lock);
    place* any_stranger() REQUIRES(x_lock);
    void ask_to_leave(place&) REQUIRES(x_lock);
    void unlist(place&) REQUIRES(x_lock);
    void rank_anew(holder&) REQUIRES(x_lock);
    void remove(place&) noexcept;

    const connection_limits& x_bounds;
    runtime::gauge& x_shown;
    runtime::counter& x_refused;
    runtime::counter& x_evicted;
    std::atomic<std::size_t> x_leaving{0};
    runtime::mutex x_lock;
    std::size_t x_connections GUARDED_BY(x_lock) = 0;
    std::uint64_t x_next_number GUARDED_BY(x_lock) = 0;
    holders x_by_address GUARDED_BY(x_lock);
    std::map<rank, holder*> x_by_rank GUARDED_BY(x_lock);
};

class connection_places::place {
  public:
    ~place() { x_all.remove(*this); }
    place(const place&) = delete;
    place& operator=(const place&) = delete;

    /// Set once the client has authenticated: then it is never asked to leave.
    std::atomic<bool> is_known{false};

  private:
    friend class connection_places;
    place(connection_places& all, holders::iterator of, int socket, std::uint64_t number)
        : x_all(all), x_of(of), x_socket(socket), x_number(number) {}

    connection_places& x_all;
    const holders::iterator x_of;
    const int x_socket;
    const std::uint64_t x_number;
    std::optional<std::list<place*>::iterator> x_listed;  // among the strangers of its address
    bool x_is_leaving = false;
};

}  // namespace herald::runtime::http::server
