// Whether the other side of a connection is still there.
#pragma once

#include "runtime/http/server/connection.hpp"
#include "runtime/http/server/request.hpp"

namespace herald::runtime::http::server {

/// The peer as its socket shows it, for a handler that waits. Both must outlive it.
class socket_peer final : public peer {
  public:
    socket_peer(tcp_socket& socket, const bool& is_draining) : x_socket(socket), x_is_draining(is_draining) {}
    /// Also while bytes of it are still unread. Unknown, so false, while the server drains: it may have
    /// closed that side itself.
    bool has_left() const noexcept override;

  private:
    tcp_socket& x_socket;
    const bool& x_is_draining;
};

}  // namespace herald::runtime::http::server
