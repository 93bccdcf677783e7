#include "runtime/http/client/awaiting.hpp"

#include <boost/asio/this_coro.hpp>

namespace herald::runtime::http::client {

boost::asio::awaitable<result<std::string_view>> read_piece(exchange& from) {
    const auto loop = co_await boost::asio::this_coro::executor;
    awaited<result<std::string_view>> piece(loop);
    from.read([&](const result<std::string_view>& came) { piece.come(came); });
    const auto done = co_await piece.wait();
    if (!done) co_return runtime::unavailable("stopped while a body was read");
    co_return *done;
}

}  // namespace herald::runtime::http::client
