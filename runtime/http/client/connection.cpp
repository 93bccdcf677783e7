// Asio's sockets and TLS streams behind one set of calls.
#include "runtime/http/client/connection.hpp"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <cstddef>

namespace herald::runtime::http::client {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

asio::ip::address to_asio(const ip_address& address) {
    if (address.kind == ip_address::family::v6) return asio::ip::address_v6(address.bytes);
    asio::ip::address_v4::bytes_type four{};
    std::copy_n(address.bytes.begin(), four.size(), four.begin());
    return asio::ip::address_v4(four);
}

ip_address from_asio(const asio::ip::address& address) {
    if (address.is_v4()) return ip_address::v4(address.to_v4().to_bytes());
    return ip_address::v6(address.to_v6().to_bytes());
}

}  // namespace

connection::connection(asio::io_context& io, std::shared_ptr<const void> place)
    : x_socket(io), x_place(std::move(place)) {}

connection::~connection() { close(); }

void connection::connect(const ip_address& address, std::uint16_t port, done call_back) {
    const tcp::endpoint endpoint(to_asio(address), port);
    x_socket.async_connect(endpoint,
                           [self = shared_from_this(), call_back = std::move(call_back)](error_code ec) {
                               error_code ignored;
                               self->x_is_connected = !ec;
                               if (!ec) self->x_socket.set_option(tcp::no_delay(true), ignored);
                               call_back(ec);
                           });
}

std::optional<ip_address> connection::peer() const {
    error_code ec;
    const auto endpoint = x_socket.remote_endpoint(ec);
    if (ec) return std::nullopt;
    return from_asio(endpoint.address());
}

void connection::secure(asio::ssl::context& context, const location& receiver, tls_session session,
                        done call_back) {
    x_tls.emplace(x_socket, context);
    expect_receiver(x_tls->native_handle(), receiver);
    if (session) SSL_set_session(x_tls->native_handle(), session.get());
    x_tls->async_handshake(
        asio::ssl::stream_base::client,
        [self = shared_from_this(), call_back = std::move(call_back)](error_code ec) { call_back(ec); });
}

std::string connection::why_not_secure(error_code ec) {
    return why_handshake_failed(x_tls->native_handle(), ec.message());
}

void connection::send(std::string text, done call_back) {
    const auto kept = std::make_shared<const std::string>(std::move(text));
    auto handler = [self = shared_from_this(), kept, call_back = std::move(call_back)](
                       error_code ec, std::size_t) { call_back(ec); };
    const auto bytes = asio::buffer(*kept);
    if (x_tls) {
        asio::async_write(*x_tls, bytes, std::move(handler));
    } else {
        asio::async_write(x_socket, bytes, std::move(handler));
    }
}

void connection::receive(received call_back) {
    auto handler = [self = shared_from_this(), call_back = std::move(call_back)](error_code ec,
                                                                                 std::size_t count) {
        // Many receivers end TLS without saying so; the framing of the answer shows whether it is complete.
        if (ec == asio::ssl::error::stream_truncated) ec = asio::error::eof;
        call_back(ec, std::string_view(self->x_received.data(), count));
    };
    if (x_tls) {
        x_tls->async_read_some(asio::buffer(x_received), std::move(handler));
    } else {
        x_socket.async_read_some(asio::buffer(x_received), std::move(handler));
    }
}

bool connection::is_quiet() {
    char byte = 0;
    const bool nothing_came = ::recv(x_socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
                              (errno == EAGAIN || errno == EWOULDBLOCK);
    return nothing_came && (!x_tls || SSL_pending(x_tls->native_handle()) == 0);
}

std::size_t connection::bytes_not_arrived(error_code how_it_ended) {
    const unsigned long question = how_it_ended == asio::error::eof ? SIOCOUTQ : SIOCOUTQNSD;
    int bytes = 0;
    const bool is_known = ::ioctl(x_socket.native_handle(), question, &bytes) == 0 && bytes > 0;
    return is_known ? static_cast<std::size_t>(bytes) : 0;
}

std::optional<std::int64_t> connection::answer_ms() {
    tcp_info known{};
    socklen_t bytes = sizeof known;
    if (::getsockopt(x_socket.native_handle(), IPPROTO_TCP, TCP_INFO, &known, &bytes) != 0)
        return std::nullopt;
    if (bytes < offsetof(tcp_info, tcpi_last_ack_recv)) return std::nullopt;
    // Both are counted back from now. An answer may come before the whole request was sent.
    return std::max<std::int64_t>(0, std::int64_t{known.tcpi_last_data_sent} - known.tcpi_last_data_recv);
}

bool connection::has_news() {
    // A socket that is connected is always ready to be written to, so that says nothing of an answer.
    const short asked = x_is_connected ? POLLIN : POLLOUT;
    pollfd one{x_socket.native_handle(), asked, 0};
    return ::poll(&one, 1, 0) > 0;
}

SSL* connection::tls() { return x_tls ? x_tls->native_handle() : nullptr; }

void connection::close() {
    // Pretends that TLS ended properly: otherwise OpenSSL would make the session unfit for resuming.
    if (x_tls) SSL_set_shutdown(x_tls->native_handle(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    error_code ignored;
    x_socket.close(ignored);
    x_place.reset();
}

}  // namespace herald::runtime::http::client
