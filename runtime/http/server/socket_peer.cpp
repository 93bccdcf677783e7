#include "runtime/http/server/socket_peer.hpp"

#include <poll.h>

namespace herald::runtime::http::server {

bool socket_peer::has_left() const noexcept {
    pollfd asked = {x_socket.native_handle(), POLLRDHUP, 0};
    return !x_is_draining && ::poll(&asked, 1, 0) == 1 &&
           (asked.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

}  // namespace herald::runtime::http::server
