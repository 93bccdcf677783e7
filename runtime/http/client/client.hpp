// An HTTP/1.1 client for everybody who needs one: names, addresses that are allowed, TCP, TLS, connections
// that are used again, bodies as bytes or piece by piece (http.md §3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/error.hpp"
#include "runtime/http/client/address_policy.hpp"
#include "runtime/http/client/answer_parser.hpp"
#include "runtime/http/client/location.hpp"
#include "runtime/http/client/resolver.hpp"
#include "runtime/http/limits.hpp"
#include "runtime/http/message.hpp"

namespace boost::asio {
class io_context;
}

namespace herald::runtime::http::client {

/// A piece of a body, valid until the next is asked for; empty at the end. Or why there is none.
using piece_callback = std::function<void(result<std::string_view>)>;

/// The body of a request, made while it is sent. Destroyed with the exchange, possibly before its end.
class body_source {
  public:
    virtual ~body_source() = default;
    /// Calls back once, from inside next() or later, but never after it was destroyed. The callback may
    /// destroy it: nothing of it is touched afterwards. Asked again only when the last piece was sent, never
    /// after the end or an error; an error ends the exchange and its connection.
    virtual void next(piece_callback) = 0;
};

struct request {
    http_method method = http_method::get;
    std::string location;  // a URL; form and address policy are checked at each exchange
    /// Connections and TLS sessions are shared only where this and scheme, host and port are the same.
    std::string pool_key;
    /// Without host, content-length, connection and transfer-encoding, which are the client's.
    std::vector<header> headers;
    std::shared_ptr<const std::string> body;  // null: none
    /// Instead of `body`. Such a request always gets a new connection: it could not be sent a second time. It
    /// is sent no further once the head of the answer is here.
    std::unique_ptr<body_source> body_pieces;
    std::optional<std::uint64_t> body_pieces_bytes;  // in all, if known; else the body is sent in chunks
    /// Sends "Expect: 100-continue", and body_pieces only once the other side wants them, or has been silent
    /// for limits::client_continue_ms: a refusal or a redirect then costs nothing but the head.
    bool asks_before_body = false;
    answer_body answer = answer_body::collected;
    std::size_t answer_body_bytes_max = limits::answer_body_bytes_max;  // of a collected one
    /// Until the answer is complete or, streamed, its head is here. Starts again when body_pieces is sent.
    std::int64_t deadline_ms = limits::client_deadline_ms;
    std::int64_t connect_ms_max = limits::client_connect_ms;  // of it, until TCP is connected
    /// For each piece of body_pieces (to be made and sent), and for each of a streamed answer (to come).
    std::int64_t piece_ms_max = limits::http_piece_ms_max;
};

/// How long each phase took; 0 for one that was not reached or not needed (a reused connection has neither
/// connect nor tls).
struct phase_times {
    std::uint32_t dns_us = 0;
    std::uint32_t connect_us = 0;
    std::uint32_t tls_us = 0;
    std::uint32_t first_byte_us = 0;  // from the first byte sent to the first byte of the answer
    std::uint32_t total_us = 0;       // of a streamed answer: until its head was here
};

/// Where an exchange failed.
enum class failure : std::uint8_t {
    none,
    address_not_allowed,  // of the location, of the name, or where the connection leads
    dns,
    connect,
    tls,
    write,     // no byte of the answer came, and not all of the request went
    protocol,  // the answer is not HTTP, is not within its limits, or was cut
    timeout,
    request_body,  // body_pieces failed, or was not as long as body_pieces_bytes says
};

struct answer {
    failure failed = failure::none;
    std::string message;  // what went wrong, for a person
    /// None unless the answer was correctly framed as far as it was read. Any status is a success here.
    std::optional<std::uint16_t> status;
    std::vector<header> headers;  // as received; at most limits::answer_header_bytes_max in all
    std::string body;             // a collected one, never decompressed
    bool body_is_cut = false;     // it was longer than answer_body_bytes_max
    /// The location held an address or was refused for its form: repeating leads to the same refusal. Set
    /// only with address_not_allowed.
    bool refused_for_good = false;
    /// Herald itself had no descriptor or memory left: nothing is known of the other side.
    bool own_shortage = false;
    std::string address;  // "192.0.2.1:443" that was tried last; empty: none
    phase_times times;
};

/// A request under way, and then the body of its answer where that is streamed.
class exchange {
  public:
    /// Cancels: closes what is open; callbacks are dropped, never called.
    virtual ~exchange() = default;
    /// True from just before the first byte of the request is handed to the network: from then on the other
    /// side may have it.
    virtual bool on_the_wire() const noexcept = 0;
    /// The next piece of the streamed body of an answer that did not fail. Nothing is read from the network
    /// while nobody asks, beyond what the kernel's buffers take. Calls back once, never from inside read(),
    /// within piece_ms_max. Not to be called before the last piece came, nor after the end or an error.
    /// Errors: deadline_exceeded; unavailable when the body was cut or is not correctly framed.
    virtual void read(piece_callback) = 0;
};

/// Lives on one thread, on which it is called and calls back. Outlives its exchanges.
class client {
  public:
    using callback = std::function<void(answer)>;
    virtual ~client() = default;
    /// Calls back exactly once, never from inside start() and never by an exception. The exchange may be
    /// destroyed in the callback.
    virtual std::unique_ptr<exchange> start(request, callback) = 0;
};

struct client_options {
    plain_http http = plain_http::refused;
    address_policy policy;
    std::string extra_ca_file;  // PEM, trusted beside the system's store; empty: none
    resolver_options dns;
    std::size_t connections_max = limits::client_connections_max;  // under way and idle
    std::size_t idle_connections_max = limits::client_idle_connections_max;
    std::int64_t idle_ms_max = limits::client_idle_ms_max;
};

/// Works on the thread that runs the io_context, and must be destroyed on it or when it has stopped. Never
/// blocks. Throws std::runtime_error when the CA file or the DNS servers cannot be read.
///
/// A name is resolved for each exchange; all its addresses must be allowed, and one of them is connected to.
/// A connection is used again only under the same key, after a complete answer that framed itself; a request
/// that met a connection closed before any byte of the answer is sent once more on a new one.
std::unique_ptr<client> make_client(boost::asio::io_context&, client_options);

}  // namespace herald::runtime::http::client
