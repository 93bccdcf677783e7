// An HTTP/1.1 client for everything in Herald that needs one: name look-up, address policy, TCP, TLS,
// connection reuse, bodies as bytes or piece by piece (http.md §3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
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

/// A piece of a body, valid until the next one is asked for; empty at the end. Or the error that ended the
/// body.
using piece_callback = std::function<void(result<std::string_view>)>;

/// The body of a request, produced while it is sent. Destroyed with the exchange, possibly before its end.
class body_source {
  public:
    virtual ~body_source() = default;
    /// Calls back once, from inside next() or later, but never after it was destroyed. The callback may
    /// destroy it, so nothing of it may be touched afterwards. Called again only when the last piece was
    /// sent, and never after the end or an error; an error ends the exchange and its connection.
    virtual void next(piece_callback) = 0;
};

/// Whether a request that went out on a reused connection goes out once more, on a new one, when that
/// connection ends before any byte of the answer.
enum class repeat : std::uint8_t {
    always,
    /// Only if the other side cannot have worked on it, because it cannot have read it whole: it was not
    /// fully sent, or by what the kernel knows part of it had not arrived (connection::bytes_not_arrived).
    unless_begun,
};

struct request {
    http_method method = http_method::get;
    std::string location;  // a URL; its form and the address policy are checked at each exchange
    /// Connections and TLS sessions are shared only where this key, scheme, host and port are the same.
    std::string pool_key;
    /// Without host, content-length, connection and transfer-encoding: the client adds those.
    std::vector<header> headers;
    std::shared_ptr<const std::string> body;  // null: no body
    /// Replaces `body`. Such a request always gets a new connection, since it could not be sent twice.
    /// Sending stops when the head of the answer arrives.
    std::unique_ptr<body_source> body_pieces;
    std::optional<std::uint64_t> body_pieces_bytes;  // in total, if known; otherwise it is chunked
    /// Sends "Expect: 100-continue", and body_pieces only once the other side agrees or has been silent for
    /// limits::client_continue_ms: a refusal or a redirect then costs only the head.
    bool asks_before_body = false;
    repeat on_reused = repeat::always;
    answer_body answer = answer_body::collected;
    std::size_t answer_body_bytes_max = limits::answer_body_bytes_max;  // of a collected or short body
    /// Until the answer is complete or, if streamed, until its head has arrived (deadline_ends_body). Starts
    /// again when body_pieces has been sent.
    std::int64_t deadline_ms = limits::client_deadline_ms;
    std::int64_t connect_ms_max = limits::client_connect_ms;  // of that, until TCP is connected
    /// Limits each piece of body_pieces (to be produced and sent), and each piece of a streamed answer (to
    /// arrive).
    std::int64_t piece_ms_max = limits::http_piece_ms_max;
    /// The deadline ends a streamed answer too: each of its pieces has the time that is left, in place of
    /// piece_ms_max. Not with body_pieces.
    bool deadline_ends_body = false;
};

/// How long each phase took; 0 for a phase that was not reached or not needed (a reused connection has
/// neither connect nor tls).
struct phase_times {
    std::uint32_t dns_us = 0;
    std::uint32_t connect_us = 0;
    std::uint32_t tls_us = 0;
    std::uint32_t first_byte_us = 0;  // from the first byte sent to the first byte of the answer
    std::uint32_t total_us = 0;       // for a streamed answer: until its head arrived
};

/// Where an exchange failed.
enum class failure : std::uint8_t {
    none,
    address_not_allowed,  // of the location, of the name, or of the connected peer
    dns,
    connect,
    tls,
    write,     // no byte of the answer arrived, and the request was not fully sent
    protocol,  // the answer is not HTTP, exceeds its limits, or was cut off
    timeout,
    request_body,  // body_pieces failed, or its length differed from body_pieces_bytes
};

struct answer {
    failure failed = failure::none;
    std::string message;     // what went wrong, for people
    bool has_begun = false;  // a byte of it came, whatever became of it
    /// Empty unless the answer was correctly framed as far as it was read. Any status is a success here.
    std::optional<std::uint16_t> status;
    std::vector<header> headers;              // as received; at most limits::answer_header_bytes_max in all
    std::string body;                         // a collected body, never decompressed
    bool body_is_cut = false;                 // the body was longer than answer_body_bytes_max
    bool body_follows = false;                // it is streamed: exchange::read() brings it
    std::optional<std::uint64_t> body_bytes;  // of a body that follows, if its length is known
    /// The location contained an address or was refused for its form: a repeat would be refused again. Set
    /// only with address_not_allowed.
    bool refused_for_good = false;
    /// Herald itself ran out of descriptors or memory, or its proxy cannot be reached: nothing is known about
    /// the other side.
    bool own_shortage = false;
    /// All connections that this client may have to the location were in use: it was not connected to.
    bool location_is_full = false;
    /// From the last byte sent to the last byte received, as the kernel saw it, however late this process
    /// looked: to 10 ms. Not of a streamed answer. Empty when nothing came, or the kernel does not say.
    std::optional<std::int64_t> answer_ms;
    std::string address;  // the last address tried, "192.0.2.1:443"; empty: none
    phase_times times;
};

/// A running request, and then the body of its answer if that is streamed.
class exchange {
  public:
    /// Cancels the exchange: closes what is open; callbacks are dropped and never called.
    virtual ~exchange() = default;
    /// True from just before the first byte of the request goes to the network: from then on the other side
    /// may have it.
    virtual bool on_the_wire() const noexcept = 0;
    /// The next piece of a streamed body, after an answer that did not fail. While nobody asks, nothing is
    /// read from the network beyond what the kernel buffers. Calls back once, never from inside read(),
    /// within piece_ms_max or by the deadline. Must not be called before the last piece arrived, nor after
    /// the end or an error. Errors: deadline_exceeded; unavailable when the body was cut off or is not
    /// correctly framed.
    virtual void read(piece_callback) = 0;
};

/// Lives on one thread, where it is called and calls back. Outlives its exchanges.
class client {
  public:
    using callback = std::function<void(answer)>;
    virtual ~client() = default;
    /// Calls back exactly once, never from inside start(), and does not throw. The exchange may be destroyed
    /// in the callback.
    virtual std::unique_ptr<exchange> start(request, callback) = 0;
};

struct client_options {
    plain_http http = plain_http::refused;
    address_policy policy;
    std::string extra_ca_file;  // PEM, trusted in addition to the system's store; empty: none
    /// PEM: shown to servers that ask for a certificate, with its key; empty: none.
    std::string certificate_file;
    std::string certificate_key_file;
    /// Connections are made through it, by HTTP CONNECT for the literal address, after that was judged.
    /// Empty: none. The policy does not judge the proxy itself: the operator names it.
    std::optional<location> proxy;
    resolver_options dns;
    std::size_t connections_max = limits::client_connections_max;  // active and idle
    /// Of those, to one scheme, host and port.
    std::size_t connections_to_one_max = std::numeric_limits<std::size_t>::max();
    std::size_t idle_connections_max = limits::client_idle_connections_max;
    std::int64_t idle_ms_max = limits::client_idle_ms_max;
};

/// Works on the thread that runs the io_context, and must be destroyed there or after it has stopped. Never
/// blocks. Throws std::runtime_error when the CA file or the DNS servers cannot be read.
///
/// A name is resolved for each exchange; all its addresses must be allowed, and the client connects to one of
/// them. A connection is reused only under the same key, after a complete answer with its own framing; if a
/// reused connection turns out to be closed before any byte of the answer arrives, the request is sent once
/// more on a new one, as far as its `on_reused` allows.
std::unique_ptr<client> make_client(boost::asio::io_context&, client_options);

/// Whether make_client can use this file. Errors: invalid_argument, saying why not.
result<void> check_extra_ca(const std::string& file);
/// The same, for the certificate that servers may ask for: both files, or neither.
result<void> check_certificate(const std::string& file, const std::string& key_file);

}  // namespace herald::runtime::http::client
