// Who may be connected: the bounds in total and per address, and who must leave when they are reached
// (design.md §1).
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

/// A stranger is a connection whose client has not authenticated yet. When a bound is reached, the oldest
/// stranger of the address with the most strangers is asked to leave (if it is an address's own bound, the
/// oldest of that address): so strangers push out each other, and clients from elsewhere find room. A
/// connection that was asked to leave no longer counts; while many of them have not gone yet, is_crowded()
/// says to accept nobody. Thread-safe.
class connection_places {
  public:
    class place;

    explicit connection_places(const connection_limits&);
    ~connection_places();

    /// A place for this socket's connection; its reads and writes end when it must leave. Null when a bound
    /// is reached and nobody can be asked to leave. The place must be destroyed before the socket is closed.
    std::unique_ptr<place> take(const std::string& address, int socket);
    bool is_crowded() const noexcept { return x_leaving >= limits::connections_leaving_max; }

  private:
    // Addresses with more strangers, and then with an older oldest stranger, come later.
    using rank = std::pair<std::size_t, std::uint64_t>;
    struct holder {
        std::size_t connections = 0;  // without those asked to leave
        std::size_t places = 0;       // including those asked to leave
        std::list<place*> strangers;  // oldest first
        std::optional<rank> ranked;   // its entry in x_by_rank
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

    /// Set once the client has authenticated; from then on it is never asked to leave.
    std::atomic<bool> is_known{false};

  private:
    friend class connection_places;
    place(connection_places& all, holders::iterator of, int socket, std::uint64_t number)
        : x_all(all), x_of(of), x_socket(socket), x_number(number) {}

    connection_places& x_all;
    const holders::iterator x_of;
    const int x_socket;
    const std::uint64_t x_number;
    std::optional<std::list<place*>::iterator> x_listed;  // its entry among the strangers of its address
    bool x_is_leaving = false;
};

}  // namespace herald::runtime::http::server
