// How coroutines wait for the client, which calls back.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "runtime/http/client/client.hpp"

namespace herald::runtime::http::client {

/// What a callback of this loop brings to a coroutine of it.
template <class Value>
class awaited {
  public:
    explicit awaited(const boost::asio::any_io_executor& loop)
        : x_bell(loop, boost::asio::steady_timer::time_point::max()) {}

    void come(Value value) {
        x_value.emplace(std::move(value));
        x_bell.cancel();
    }
    /// Empty when the coroutine was cancelled before.
    boost::asio::awaitable<std::optional<Value>> wait() {
        if (!x_value) co_await x_bell.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
        co_return std::move(x_value);
    }

  private:
    boost::asio::steady_timer x_bell;
    std::optional<Value> x_value;
};

/// exchange::read(), on the client's thread. Errors: also unavailable when the coroutine was cancelled.
boost::asio::awaitable<result<std::string_view>> read_piece(exchange&);

}  // namespace herald::runtime::http::client
