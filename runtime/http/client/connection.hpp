// One TCP connection to a receiver, with or without TLS.
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/http/client/address_policy.hpp"
#include "runtime/http/client/location.hpp"
#include "runtime/http/client/tls.hpp"

namespace herald::runtime::http::client {

/// Belongs to one attempt or to the pool, on the thread of its io_context. Each operation keeps it alive and
/// calls back even after close(), with an error.
class connection : public std::enable_shared_from_this<connection> {
  public:
    using error_code = boost::system::error_code;
    using done = std::function<void(error_code)>;
    using received = std::function<void(error_code, std::string_view)>;

    /// Its place among the client's open connections is held until close().
    connection(boost::asio::io_context&, std::shared_ptr<const void> place);
    ~connection();
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    void connect(const ip_address&, std::uint16_t port, done);
    /// The address that we are connected to, according to the kernel.
    std::optional<ip_address> peer() const;
    /// `session` may be null. The context must outlive the connection.
    void secure(boost::asio::ssl::context&, const location&, tls_session session, done);
    /// To be called after secure() failed.
    std::string why_not_secure(error_code);
    /// Sends everything, in one write if the kernel takes it.
    void send(std::string text, done);
    /// The next bytes, at least one; valid only in the callback. boost::asio::error::eof at the end.
    void receive(received);
    /// True if nothing has come since the last answer, not even the end: fit for another request.
    bool is_quiet();
    /// How many of the bytes sent (with TLS, its own are among them) had surely not reached the other side's
    /// kernel when it ended the connection in this way, so that nobody there can have read them:
    /// - eof: what is not acknowledged, since the end came with an acknowledgement of all that had arrived.
    /// - any other error: what has never left this machine. The acknowledgement in a reset is not taken, and
    ///   an earlier one may have been delayed: what was read just before would seem not to have arrived.
    /// To be called between that error of receive() and close(). 0 also when the kernel does not say.
    std::size_t bytes_not_arrived(error_code how_it_ended);
    /// How long the other side took from the last byte sent to it to the last byte that came from it, as the
    /// kernel saw it (TCP_INFO, to a tick of its clock, 1–10 ms). Empty when the kernel does not say.
    std::optional<std::int64_t> answer_ms();
    /// Whether the socket has something to say that was not looked at yet: bytes, an end, a connection.
    bool has_news();
    /// Null without TLS.
    SSL* tls();
    void close();

  private:
    using stream = boost::asio::ssl::stream<boost::asio::ip::tcp::socket&>;

    boost::asio::ip::tcp::socket x_socket;
    bool x_is_connected = false;
    std::optional<stream> x_tls;
    std::array<char, 8 * 1024> x_received{};
    std::shared_ptr<const void> x_place;
};

}  // namespace herald::runtime::http::client
