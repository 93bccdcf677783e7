// How coroutines wait for the client, which calls back.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string_view>

#include "runtime/http/client/client.hpp"

namespace herald::runtime::http::client {

/// exchange::read(), on the client's thread. Errors: also unavailable when the coroutine was cancelled.
boost::asio::awaitable<result<std::string_view>> read_piece(exchange&);

}  // namespace herald::runtime::http::client
