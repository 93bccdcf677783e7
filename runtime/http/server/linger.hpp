// The end of a connection whose client may still be sending.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <span>

#include "runtime/event_loop.hpp"
#include "runtime/http/server/connection.hpp"

namespace herald::runtime::http::server {

/// Sends no more, and reads on into `scrap` while bytes come, at most connection_limits::linger_ms apart and
/// linger_ms_max in all. Closing a socket while bytes are unread would take the last answer back from the
/// client, and one that sends a large body looks for an answer only at its end.
boost::asio::awaitable<void> read_on(tcp_socket&, runtime::event_loop&, const connection_limits&,
                                     std::span<char> scrap);

}  // namespace herald::runtime::http::server
