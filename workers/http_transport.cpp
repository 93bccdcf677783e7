// An attempt as a chain of steps, each a callback of the one before: resolve, connect, secure, exchange.
// Whatever happens, it ends in finish(), once; one timer stands for the deadline and for the shorter limits
// on the way to it.
#include "workers/http_transport.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <span>
#include <vector>

#include "runtime/http/client/answer_parser.hpp"
#include "runtime/http/client/connection.hpp"
#include "runtime/http/client/connection_pool.hpp"
#include "runtime/http/client/tls.hpp"

namespace herald::workers {

namespace {

using runtime::http::client::answer_parser;
using runtime::http::client::connection;
using runtime::http::client::connection_pool;
using runtime::http::client::ip_address;
using runtime::http::client::location;
using runtime::http::client::lookup;
using runtime::http::client::make_client_tls;
using runtime::http::client::make_resolver;
using runtime::http::client::parse_location;
using runtime::http::client::resolver;
using runtime::http::client::tls_sessions;

namespace asio = boost::asio;
using boost::system::error_code;
using schemas::delivery_error;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t addresses_tried_max = 4;
constexpr std::size_t tls_sessions_max = 1024;

/// What all attempts of a transport share.
struct shared {
    shared(asio::io_context& io_, http_transport_options options_)
        : io(io_),
          options(std::move(options_)),
          tls(make_client_tls(options.extra_ca_file)),
          sessions(tls_sessions_max),
          pool(std::make_shared<connection_pool>(io, options.idle_connections_max, options.idle_ms_max)),
          names(make_resolver(io, options.dns)),
          open_connections(std::make_shared<std::size_t>(0)) {}

    asio::io_context& io;
    http_transport_options options;
    asio::ssl::context tls;
    tls_sessions sessions;
    std::shared_ptr<connection_pool> pool;
    std::unique_ptr<resolver> names;
    std::shared_ptr<std::size_t> open_connections;
};

std::uint32_t us_between(steady_clock::time_point from, steady_clock::time_point to) {
    return static_cast<std::uint32_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(to - from).count());
}

void append_header(std::string& out, std::string_view name, std::string_view value) {
    out.append(name).append(": ");
    for (const char c : value) {  // a line break would begin another header
        const auto byte = static_cast<unsigned char>(c);
        out += (byte < 0x20 && c != '\t') || byte == 0x7f ? ' ' : c;
    }
    out.append("\r\n");
}

std::string request_text(const delivery_request& request, const location& receiver) {
    std::string text = "POST " + receiver.target + " HTTP/1.1\r\n";
    append_header(text, "host", receiver.authority());
    for (const auto& [name, value] : request.headers) append_header(text, name, value);
    append_header(text, "content-length", std::to_string(request.body->size()));
    text.append("\r\n").append(*request.body);
    return text;
}

std::string with_port(const ip_address& address, std::uint16_t port) {
    const bool v6 = address.kind == ip_address::family::v6;
    return (v6 ? "[" + address.text() + "]" : address.text()) + ":" + std::to_string(port);
}

bool is_own_shortage(error_code ec) {
    namespace errc = boost::system::errc;
    return ec == errc::too_many_files_open || ec == errc::too_many_files_open_in_system ||
           ec == errc::not_enough_memory || ec == errc::no_buffer_space;
}

/// A name that could not be looked up may have failed for want of a socket, which the resolver does not say.
bool no_descriptor_left() {
    const int descriptor = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return true;
    ::close(descriptor);
    return false;
}

class attempt : public std::enable_shared_from_this<attempt> {
  public:
    attempt(std::shared_ptr<shared> shared, delivery_request request, transport::callback callback)
        : x_shared(std::move(shared)),
          x_request(std::move(request)),
          x_callback(std::move(callback)),
          x_started(steady_clock::now()),
          x_deadline(x_started + milliseconds(x_request.deadline_ms)),
          x_timer(x_shared->io) {}

    void start();
    void cancel();
    bool on_the_wire() const noexcept { return x_on_the_wire; }

  private:
    void resolve();
    void take_addresses(std::vector<ip_address>);
    void connect_first();
    void connect_next();
    void connected();
    void secured(error_code);
    void exchange();
    void sent(error_code);
    void received(error_code, std::string_view);
    void complete();
    void broke_off(error_code);
    bool send_again_on_new_connection();

    void limit(steady_clock::time_point, void (attempt::*on_limit)());
    void limit_by_deadline() { limit(x_deadline, &attempt::timed_out); }
    void timed_out();
    void connect_timed_out();
    void fail(delivery_error, std::string message);
    void finish();

    /// Each step's callbacks are dropped once the attempt is over or has gone on without them.
    template <class... arguments>
    auto step(void (attempt::*next)(arguments...)) {
        return [self = shared_from_this(), next, turn = x_turn](arguments... values) {
            if (turn == self->x_turn) ((*self).*next)(std::forward<arguments>(values)...);
        };
    }

    std::shared_ptr<shared> x_shared;
    delivery_request x_request;
    transport::callback x_callback;
    delivery_answer x_answer;
    steady_clock::time_point x_started;
    steady_clock::time_point x_deadline;
    steady_clock::time_point x_phase_started;
    const char* x_phase = "starting";
    asio::steady_timer x_timer;
    std::uint64_t x_turn = 0;  // raised to drop the callbacks of what was begun before

    location x_receiver;
    std::string x_pool_key;
    std::unique_ptr<lookup> x_lookup;
    std::vector<ip_address> x_addresses;
    std::size_t x_next_address = 0;
    std::string x_connect_errors;
    std::shared_ptr<connection> x_connection;
    ip_address x_address;
    bool x_reused = false;
    bool x_on_the_wire = false;

    std::unique_ptr<answer_parser> x_parser;
    bool x_is_sent = false;
    error_code x_send_error;
    bool x_got_bytes = false;
};

void attempt::start() {
    limit_by_deadline();
    asio::post(x_shared->io, step(&attempt::resolve));
}

void attempt::cancel() {
    ++x_turn;
    x_callback = nullptr;
    x_timer.cancel();
    x_lookup.reset();
    if (x_connection) x_connection->close();
}

void attempt::resolve() {
    auto receiver = parse_location(x_request.location, x_shared->options.http, x_shared->options.policy);
    if (!receiver) {
        x_answer.refused_for_good = true;
        return fail(delivery_error::address_not_allowed, receiver.error().message);
    }
    x_receiver = std::move(*receiver);
    x_pool_key = std::to_string(x_request.webhook_id.value) + (x_receiver.tls ? " https " : " http ") +
                 x_receiver.authority();
    if (x_receiver.literal) return take_addresses({*x_receiver.literal});

    x_phase = "looking the name up";
    x_phase_started = steady_clock::now();
    x_lookup = x_shared->names->resolve(
        x_receiver.host, [self = shared_from_this(), turn = x_turn](result<std::vector<ip_address>> found) {
            if (turn != self->x_turn) return;
            self->x_answer.times.dns_us = us_between(self->x_phase_started, steady_clock::now());
            if (!found) {
                self->x_answer.own_shortage = no_descriptor_left();
                return self->fail(delivery_error::dns, found.error().message);
            }
            self->take_addresses(std::move(*found));
        });
}

void attempt::take_addresses(std::vector<ip_address> addresses) {
    const auto verdict = x_shared->options.policy.judge_all(addresses);
    if (!verdict.allowed) {
        return fail(delivery_error::address_not_allowed, x_receiver.host + " leads to " + verdict.reason);
    }
    x_addresses = std::move(addresses);
    x_connection = x_shared->pool->take(x_pool_key, x_addresses);
    if (!x_connection) {
        return connect_first();
    }
    x_reused = true;
    if (const auto peer = x_connection->peer()) x_address = *peer;
    exchange();
}

void attempt::connect_first() {
    x_addresses.resize(std::min(x_addresses.size(), addresses_tried_max));
    x_phase_started = steady_clock::now();
    connect_next();
}

void attempt::connect_next() {
    if (x_next_address == x_addresses.size()) return fail(delivery_error::connect, x_connect_errors);
    if (*x_shared->open_connections >= x_shared->options.connections_max && !x_shared->pool->drop_oldest()) {
        x_answer.own_shortage = true;
        return fail(delivery_error::connect, "too many connections are open");
    }
    // Each address has its share of what is left of the time to connect.
    const auto now = steady_clock::now();
    const auto connect_until = x_phase_started + milliseconds(x_request.connect_ms_max);
    const auto share = (connect_until - now) / static_cast<int>(x_addresses.size() - x_next_address);
    limit(std::min(now + share, x_deadline), &attempt::connect_timed_out);
    x_phase = "connecting";
    x_address = x_addresses[x_next_address++];
    x_answer.address = with_port(x_address, x_receiver.port);
    x_connection = std::make_shared<connection>(x_shared->io, x_shared->open_connections);
    x_connection->connect(
        x_address, x_receiver.port, [self = shared_from_this(), turn = ++x_turn](error_code ec) {
            if (turn != self->x_turn) return;
            if (!ec) return self->connected();
            self->x_answer.own_shortage = is_own_shortage(ec);
            self->x_connect_errors +=
                (self->x_connect_errors.empty() ? "" : "; ") + self->x_answer.address + ": " + ec.message();
            self->connect_next();
        });
}

void attempt::connect_timed_out() {
    if (steady_clock::now() >= x_deadline) return timed_out();
    x_connect_errors += (x_connect_errors.empty() ? "" : "; ") + x_answer.address + ": no connection in time";
    x_connection->close();
    connect_next();
}

void attempt::connected() {
    limit_by_deadline();
    const auto now = steady_clock::now();
    x_answer.times.connect_us = us_between(x_phase_started, now);
    const auto peer = x_connection->peer();
    if (!peer || *peer != x_address || !x_shared->options.policy.judge(*peer).allowed) {
        return fail(delivery_error::address_not_allowed,
                    "the connection leads elsewhere than to " + x_answer.address);
    }
    if (!x_receiver.tls) return exchange();
    x_phase = "in the TLS handshake";
    x_phase_started = now;
    x_connection->secure(x_shared->tls, x_receiver, x_shared->sessions.take(x_pool_key),
                         step(&attempt::secured));
}

void attempt::secured(error_code ec) {
    x_answer.times.tls_us = us_between(x_phase_started, steady_clock::now());
    if (ec) return fail(delivery_error::tls, x_connection->why_not_secure(ec));
    exchange();
}

void attempt::exchange() {
    x_answer.address = with_port(x_address, x_receiver.port);
    x_parser = std::make_unique<answer_parser>();
    x_phase = "sending the request";
    x_phase_started = steady_clock::now();
    x_on_the_wire = true;
    // Reading at once: a receiver may answer before it has read everything, and then close.
    x_connection->receive(step(&attempt::received));
    x_connection->send(request_text(x_request, x_receiver), step(&attempt::sent));
}

void attempt::sent(error_code ec) {
    x_is_sent = !ec;
    x_send_error = ec;  // the answer may be on its way all the same: received() decides
    if (x_is_sent && !x_got_bytes) x_phase = "waiting for the answer";
}

void attempt::received(error_code ec, std::string_view bytes) {
    if (ec) return broke_off(ec);
    if (!std::exchange(x_got_bytes, true)) {
        x_answer.times.first_byte_us = us_between(x_phase_started, steady_clock::now());
        x_phase = "reading the answer";
    }
    switch (x_parser->feed(bytes)) {
        case answer_parser::progress::more:
            return x_connection->receive(step(&attempt::received));
        case answer_parser::progress::failed:
            return fail(delivery_error::protocol, x_parser->failure());
        case answer_parser::progress::complete:
            return complete();
    }
}

void attempt::complete() {
    const bool usable = x_is_sent && x_parser->leaves_connection_usable();
    x_answer.status = x_parser->status();
    x_answer.headers = std::move(x_parser->headers());
    x_answer.body = std::move(x_parser->body());
    if (SSL* const tls = x_connection->tls()) x_shared->sessions.keep(x_pool_key, tls);
    if (usable) {
        x_shared->pool->put(x_pool_key, x_address, std::exchange(x_connection, nullptr));
    }
    if (*x_answer.status / 100 == 2) return finish();
    fail(delivery_error::status, "answered " + std::to_string(*x_answer.status));
}

void attempt::broke_off(error_code ec) {
    if (!x_got_bytes && x_reused && send_again_on_new_connection()) return;
    if (ec == asio::error::eof && x_parser->end() == answer_parser::progress::complete) return complete();
    if (!x_is_sent && !x_got_bytes) {
        const error_code& cause = x_send_error ? x_send_error : ec;
        return fail(delivery_error::write, "sending the request: " + cause.message());
    }
    fail(delivery_error::protocol,
         ec == asio::error::eof ? x_parser->failure() : "reading the answer: " + ec.message());
}

bool attempt::send_again_on_new_connection() {
    ++x_turn;
    x_connection->close();
    x_reused = false;
    x_is_sent = false;
    x_send_error = {};
    connect_first();
    return true;
}

void attempt::limit(steady_clock::time_point at, void (attempt::*on_limit)()) {
    x_timer.expires_at(at);
    x_timer.async_wait([self = shared_from_this(), on_limit](error_code ec) {
        // A wait that had ended when the limit was moved is not ours any more.
        const bool is_due = !ec && self->x_timer.expiry() <= steady_clock::now();
        if (is_due && self->x_callback) ((*self).*on_limit)();
    });
}

void attempt::timed_out() {
    fail(delivery_error::timeout,
         "not done within " + std::to_string(x_request.deadline_ms) + " ms: " + x_phase);
}

void attempt::fail(delivery_error error, std::string message) {
    x_answer.error = error;
    x_answer.message = std::move(message);
    finish();
}

void attempt::finish() {
    auto callback = std::exchange(x_callback, nullptr);
    cancel();
    x_connection.reset();
    x_answer.times.total_us = us_between(x_started, steady_clock::now());
    callback(std::move(x_answer));
}

class handle final : public attempt_handle {
  public:
    explicit handle(std::shared_ptr<attempt> attempt) : x_attempt(std::move(attempt)) {}
    ~handle() override { x_attempt->cancel(); }
    handle(const handle&) = delete;
    handle& operator=(const handle&) = delete;
    bool on_the_wire() const noexcept override { return x_attempt->on_the_wire(); }

  private:
    std::shared_ptr<attempt> x_attempt;
};

class http_transport final : public transport {
  public:
    http_transport(asio::io_context& io, http_transport_options options)
        : x_shared(std::make_shared<shared>(io, std::move(options))) {}
    ~http_transport() override { x_shared->pool->close(); }
    http_transport(const http_transport&) = delete;
    http_transport& operator=(const http_transport&) = delete;

    std::unique_ptr<attempt_handle> post(delivery_request request, callback call_back) override {
        auto started = std::make_shared<attempt>(x_shared, std::move(request), std::move(call_back));
        started->start();
        return std::make_unique<handle>(std::move(started));
    }

  private:
    std::shared_ptr<shared> x_shared;
};

}  // namespace

std::unique_ptr<transport> make_http_transport(asio::io_context& io, http_transport_options options) {
    return std::make_unique<http_transport>(io, std::move(options));
}

}  // namespace herald::workers
