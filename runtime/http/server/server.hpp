// The HTTP server: sockets, framing, limits, deadlines (http.md). The content of answers comes from the
// handler.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/error.hpp"
#include "runtime/event_loop.hpp"
#include "runtime/http/limits.hpp"
#include "runtime/http/message.hpp"
#include "runtime/http/server/plan.hpp"
#include "runtime/http/server/request.hpp"
#include "runtime/limits.hpp"

namespace herald::runtime::http::server {

/// Answers requests. One for the whole server, called on the threads of all loops at once; outlives the
/// server. A handler that throws is a bug: it is logged and the caller gets 500.
class request_handler {
  public:
    virtual ~request_handler() = default;
    /// Called first and once for each request, on its loop, when only its head and loop_index are known.
    /// Fills the plan, which all functions below get for the same request. Returns the handler to call them
    /// on: this one, or another that was asked in turn and outlives the server, too.
    virtual request_handler& begin(const request& head, plan&) noexcept;
    /// For answers that need no waiting and little time: returns true after filling `out` (empty, status 200
    /// before), or false to be called with handle(). Saves a coroutine. Must answer if plan::is_decided.
    virtual bool handle_now(const request&, const plan&, http_response& out);
    /// Must set its own deadline; there is no other. Cancelled when the server stops.
    virtual boost::asio::awaitable<http_response> handle(const request&, const plan&);
    /// Called once the header has arrived but the body has not, or not fully. Returns an answer if the header
    /// does not entitle to more (the rest is then not read, and the connection closes), or nothing, and the
    /// body is read.
    virtual boost::asio::awaitable<std::optional<http_response>> judge(const request& head, const plan&);
    /// What the server itself says to a request whose head it has read, in the form of its path. On the
    /// request's loop.
    virtual http_response refusal(const request& head, const plan&, const error&) const;
};

/// Bounds of a connection. Tests make them smaller; the program changes idle_ms alone.
struct connection_limits {
    std::int64_t header_ms = limits::request_header_ms_max;    // from the first byte to the end of the header
    std::int64_t body_ms_base = limits::request_body_ms_base;  // plus 1 s for each KiB received
    std::int64_t piece_ms = limits::http_piece_ms_max;         // for each piece of a streamed body
    std::int64_t stream_bytes_per_second = limits::http_stream_bytes_per_second_min;  // of streamed bodies
    std::int64_t stream_window_ms = limits::http_stream_window_ms;                    // by this time's mean
    std::int64_t idle_ms = limits::connection_idle_ms_max;
    std::int64_t write_ms_base = limits::response_write_ms_max;  // plus 1 s for each 64 KiB sent
    /// A closed connection is read on, so that the last answer arrives: while bytes come, at most linger_ms
    /// apart, and linger_ms_max in all.
    std::int64_t linger_ms = limits::connection_linger_ms;
    std::int64_t linger_ms_max = limits::connection_linger_ms_max;
    std::uint32_t requests = limits::requests_per_connection_max;
    std::size_t connections = limits::connections_max;
    std::size_t connections_per_address =  // IPv6: per /64
        limits::connections_max / limits::connections_share_of_address;
    std::size_t unfinished_bodies_bytes = limits::unfinished_bodies_bytes_max;  // of all connections together
    std::size_t unfinished_small_bodies_bytes = limits::unfinished_small_bodies_bytes_max;  // likewise
    std::size_t finished_bodies_bytes = limits::finished_bodies_bytes_max;                  // likewise
    std::size_t unsent_answers_bytes = limits::unsent_answers_bytes_max;                    // likewise
};

enum class request_log : std::uint8_t { off, on };

struct server_options {
    std::string address = "127.0.0.1";  // a literal IPv4 or IPv6 address
    std::uint16_t port = 0;             // 0: the kernel chooses
    /// Names of the server's own headers start with it; with several prefixes each header is sent under each.
    std::vector<std::string> header_prefixes = {"svc-"};
    /// PEM files; both or neither. TLS 1.2 and newer.
    std::string tls_certificate_file;
    std::string tls_key_file;
    request_log log = request_log::on;
    connection_limits bounds;
};

/// Listens from its creation; accepts from start() on. Owned by the main thread, which makes all calls;
/// stopped before the loops are.
class server {
  public:
    virtual ~server() = default;
    /// The port that it listens on.
    virtual std::uint16_t port() const noexcept = 0;
    virtual void start() = 0;
    /// From now on `next`, which outlives the server, begins requests. Those that have begun are answered by
    /// the handler that began them.
    virtual void lead_to(request_handler& next) = 0;
    /// Stops accepting, tells clients that their connections will close, and waits until requests in flight
    /// have been answered; false when that takes longer than `ms`. stop() must still be called.
    virtual bool drain(std::int64_t ms) = 0;
    /// Closes everything at once; returns when no handler is running. The destructor does this too.
    virtual void stop() = 0;
};

/// Errors: unavailable when the address cannot be listened on; invalid_argument when it is not a literal
/// address or the TLS files cannot be used.
result<std::unique_ptr<server>> make_server(server_options, request_handler&, runtime::event_loops&);

}  // namespace herald::runtime::http::server
