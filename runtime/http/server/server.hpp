// The HTTP server: sockets, framing, limits, deadlines (http.md). What an answer says is the handler's.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/error.hpp"
#include "runtime/event_loop.hpp"
#include "runtime/http/limits.hpp"
#include "runtime/http/message.hpp"
#include "runtime/http/server/request.hpp"
#include "runtime/limits.hpp"

namespace herald::runtime::http::server {

/// What answers requests. One for the whole server, called on every loop's thread at once; outlives the
/// server. A handler that throws is a bug: it is logged and the caller gets 500.
class request_handler {
  public:
    virtual ~request_handler() = default;
    /// For answers that need no waiting and little time: true when `out` (empty, status 200) was filled,
    /// false to be called with handle(). Saves a coroutine.
    virtual bool handle_now(const request&, http_response& out);
    /// Has no deadline but its own (runtime::with_deadline). Cancelled when the server stops.
    virtual boost::asio::awaitable<http_response> handle(const request&) = 0;
    /// How long the body of such a request may be; asked before it is read. Longer ones are answered 413.
    virtual std::size_t body_bytes_max(http_method, std::string_view path) const noexcept;
    /// Whether the handler takes the body of such a request piece by piece, from request::stream; asked at
    /// the end of the header of a request that has a body (one without has no stream). judge() is then always
    /// asked, and handle() called before the body is here. Nothing is read from the socket while the handler
    /// asks for nothing. Errors of a piece: deadline_exceeded (408) when it does not come in time,
    /// unavailable when the client left, and what is wrong with the framing. After an answer to a body that
    /// was not read to its end the connection closes.
    virtual bool streams_body(http_method, std::string_view path) const noexcept;
    /// Asked once the header is here and the body is not, or not all of it: an answer, if the header alone
    /// decides (then the rest is not read, and the connection closes), or nothing, and the body is read.
    virtual boost::asio::awaitable<std::optional<http_response>> judge(const request& head);
};

/// Bounds of a connection. Tests make them smaller; the program leaves them alone.
struct connection_limits {
    std::int64_t header_ms = limits::request_header_ms_max;    // from the first byte to the end of the header
    std::int64_t body_ms_base = limits::request_body_ms_base;  // plus 1 s for each KiB that came
    std::int64_t piece_ms = limits::http_piece_ms_max;         // of it, for each piece of a streamed body
    std::int64_t idle_ms = limits::connection_idle_ms_max;
    std::int64_t write_ms_base = limits::response_write_ms_max;  // plus 1 s for each 64 KiB that went
    std::int64_t linger_ms = 2'000;  // how long a closed connection is read, so that the last answer arrives
    std::uint32_t requests = limits::requests_per_connection_max;
    std::size_t connections = limits::connections_max;
    std::size_t connections_per_address =  // IPv6: per /64
        limits::connections_max / limits::connections_share_of_address;
    std::size_t unfinished_bodies_bytes = limits::unfinished_bodies_bytes_max;  // of all connections
    std::size_t unsent_answers_bytes = limits::unsent_answers_bytes_max;        // likewise
};

enum class request_log : std::uint8_t { off, on };

struct server_options {
    std::string address = "127.0.0.1";  // literal, IPv4 or IPv6
    std::uint16_t port = 0;             // 0: the kernel chooses
    /// Names of the server's own headers start with it; several: each header is sent under each.
    std::vector<std::string> header_prefixes = {"svc-"};
    /// PEM files; both or none. TLS 1.2 and newer.
    std::string tls_certificate_file;
    std::string tls_key_file;
    request_log log = request_log::on;
    connection_limits bounds;
};

/// Listens from the moment it is made; accepts from start() on. Owned by the main thread, which calls every
/// function; stopped before the loops are.
class server {
  public:
    virtual ~server() = default;
    /// The port that it listens on.
    virtual std::uint16_t port() const noexcept = 0;
    virtual void start() = 0;
    /// Stops accepting, tells clients that their connections close, and waits until what is in flight has
    /// been answered; false when that takes longer than `ms`. Then stop() is still to be called.
    virtual bool drain(std::int64_t ms) = 0;
    /// Closes everything at once; returns when no handler runs any more. Done by the destructor, too.
    virtual void stop() = 0;
};

/// Errors: unavailable when the address cannot be listened on; invalid_argument when it is not a literal
/// address or the TLS files cannot be used.
result<std::unique_ptr<server>> make_server(server_options, request_handler&, runtime::event_loops&);

}  // namespace herald::runtime::http::server
