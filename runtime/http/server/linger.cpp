#include "runtime/http/server/linger.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>

#include "runtime/deadline.hpp"
#include "runtime/http/server/awaiting.hpp"

namespace herald::runtime::http::server {

namespace asio = boost::asio;

asio::awaitable<void> read_on(tcp_socket& socket, runtime::event_loop& loop, const connection_limits& bounds,
                              std::span<char> scrap) {
    bool is_late = false;
    runtime::deadline deadline(loop, [&] {
        is_late = true;
        boost::system::error_code ignored;
        socket.cancel(ignored);
    });
    boost::system::error_code ended;
    socket.shutdown(tcp_socket::shutdown_send, ended);
    const std::int64_t end_ms = loop.time().steady_ms() + bounds.linger_ms_max;
    while (!ended && !is_late) {
        deadline.set(std::min(end_ms, loop.time().steady_ms() + bounds.linger_ms));
        const auto [failed, bytes] =
            co_await socket.async_read_some(asio::mutable_buffer(scrap.data(), scrap.size()), outcome);
        ended = failed;
    }
}

}  // namespace herald::runtime::http::server
