#include "runtime/http/client/awaiting.hpp"

#include <boost/asio/this_coro.hpp>
#include <memory>

namespace herald::runtime::http::client {

boost::asio::awaitable<result<std::string_view>> read_piece(exchange& from) {
    const auto loop = co_await boost::asio::this_coro::executor;
    // Outlives this coroutine if that is cancelled: the exchange may call back until it is destroyed.
    const auto piece = std::make_shared<awaited<result<std::string_view>>>(loop);
    from.read([piece](const result<std::string_view>& came) { piece->come(came); });
    const auto done = co_await piece->wait();
    if (!done) co_return runtime::unavailable("stopped while a body was read");
    co_return *done;
}

}  // namespace herald::runtime::http::client
