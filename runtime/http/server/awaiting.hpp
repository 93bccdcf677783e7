// How the server's coroutines wait for sockets and timers.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace herald::runtime::http::server {

/// Errors come as values.
inline constexpr auto outcome = boost::asio::as_tuple(boost::asio::use_awaitable);

}  // namespace herald::runtime::http::server
