#include "runtime/http/server/stream_sending.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>

#include "runtime/http/server/server.hpp"

namespace herald::runtime::http::server {

namespace asio = boost::asio;

asio::awaitable<result<std::string_view>> next_piece(body_stream& stream) {
    error failure;
    try {
        co_return co_await stream.next();
    } catch (const std::exception& thrown) {
        failure = runtime::internal(thrown.what());
    }
    co_return failure;
}

namespace {

asio::awaitable<result<std::size_t>> send_to(body_stream& stream, int socket, std::uint64_t bytes_max) {
    error failure;
    try {
        co_return co_await stream.send_to(socket, bytes_max);
    } catch (const std::exception& thrown) {
        failure = runtime::internal(thrown.what());
    }
    co_return failure;
}

}  // namespace

asio::awaitable<result<std::string_view>> send_past(outgoing_answer& out, tcp_socket& socket,
                                                    sending_bounds bounds) {
    const auto bytes = co_await send_to(*out.get().stream, socket.native_handle(), out.bytes_to_send_past());
    if (!bytes) co_return bytes.error();
    out.sent_past(*bytes);
    bounds.pace.waited(0, *bytes);
    if (*bytes > 0) co_return std::string_view();
    const std::int64_t since_ms = bounds.loop.time().steady_ms();
    bounds.until.set_after(std::min(bounds.limits.write_ms_base, bounds.pace.ms_left()));
    const auto [failed] =
        co_await socket.async_wait(tcp_socket::wait_write, asio::as_tuple(asio::use_awaitable));
    bounds.until.clear();
    bounds.pace.waited(bounds.loop.time().steady_ms() - since_ms, 0);
    if (failed) co_return runtime::aborted("the client is gone, or reads too slowly");
    co_return std::string_view();
}

}  // namespace herald::runtime::http::server
