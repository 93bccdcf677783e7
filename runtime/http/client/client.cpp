// An exchange as a chain of steps, each a callback of the one before: resolve, connect, secure, send and
// receive. Whatever happens, the caller hears of it once: in finish(), or in head_came() where the body of
// the answer is then read piece by piece. One timer stands for the deadline and for the shorter limits on the
// way.
#include "runtime/http/client/client.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdio>
#include <utility>

#include "runtime/http/client/connection.hpp"
#include "runtime/http/client/connection_pool.hpp"
#include "runtime/http/client/tls.hpp"

namespace herald::runtime::http::client {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t addresses_tried_max = 4;
constexpr std::size_t tls_sessions_max = 1024;

/// What all exchanges of a client share.
struct shared {
    shared(asio::io_context& io_, client_options options_)
        : io(io_),
          options(std::move(options_)),
          tls(make_client_tls(options.extra_ca_file)),
          sessions(tls_sessions_max),
          pool(std::make_shared<connection_pool>(io, options.idle_connections_max, options.idle_ms_max)),
          names(make_resolver(io, options.dns)),
          open_connections(std::make_shared<std::size_t>(0)) {}

    asio::io_context& io;
    client_options options;
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

/// The head, and the body that is there as a whole.
std::string request_text(const request& asked, const location& to) {
    std::string text = std::string(name_of(asked.method)) + " " + to.target + " HTTP/1.1\r\n";
    append_header(text, "host", to.authority());
    for (const auto& [name, value] : asked.headers) append_header(text, name, value);
    if (asked.body_pieces && !asked.body_pieces_bytes) {
        append_header(text, "transfer-encoding", "chunked");
    } else if (asked.body_pieces) {
        append_header(text, "content-length", std::to_string(*asked.body_pieces_bytes));
    } else if (asked.body) {
        append_header(text, "content-length", std::to_string(asked.body->size()));
    } else if (asked.method == http_method::post || asked.method == http_method::put ||
               asked.method == http_method::patch) {
        append_header(text, "content-length", "0");  // RFC 9110 §8.6: a body is expected of these
    }
    if (asked.body_pieces && asked.asks_before_body) append_header(text, "expect", "100-continue");
    text.append("\r\n");
    if (asked.body && !asked.body_pieces) text.append(*asked.body);
    return text;
}

std::string chunk_text(std::string_view piece) {
    std::array<char, 24> size{};
    std::snprintf(size.data(), size.size(), "%zx\r\n", piece.size());
    std::string text(size.data());
    text.append(piece).append("\r\n");  // the empty one is the last chunk
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

class running : public std::enable_shared_from_this<running> {
  public:
    running(std::shared_ptr<shared> shared, request request, client::callback callback)
        : x_shared(std::move(shared)),
          x_request(std::move(request)),
          x_callback(std::move(callback)),
          x_started(steady_clock::now()),
          x_deadline(x_started + milliseconds(x_request.deadline_ms)),
          x_timer(x_shared->io),
          x_permit(x_request.body_pieces && x_request.asks_before_body ? body_permit::to_be_asked
                                                                       : body_permit::given) {}

    void start();
    void cancel();
    bool on_the_wire() const noexcept { return x_on_the_wire; }
    void read(piece_callback);

  private:
    /// To send body_pieces.
    enum class body_permit : std::uint8_t { given, to_be_asked, awaited };

    void resolve();
    void take_addresses(std::vector<ip_address>);
    void connect_first();
    void connect_next();
    void connected();
    void secured(error_code);
    void send_request();
    void sent(error_code);
    void received(error_code, std::string_view);
    void complete();
    void head_came();
    void broke_off(error_code);
    void wait_to_continue();
    void send_body();
    void ask_for_piece();
    void send_piece(result<std::string_view>);
    void end_of_pieces();
    void receive_later();
    void last_chunk_sent(error_code);
    void hand_out() { hand_out_piece(); }
    bool hand_out_piece();
    void piece_timed_out();
    bool send_again_on_new_connection();

    void limit(steady_clock::time_point, void (running::*on_limit)());
    void limit_by_deadline() { limit(x_deadline, &running::timed_out); }
    void timed_out();
    void connect_timed_out();
    void fail(failure, std::string message);
    void finish();

    /// Each step's callbacks are dropped once the attempt is over or has gone on without them.
    template <class... arguments>
    auto step(void (running::*next)(arguments...)) {
        return [self = shared_from_this(), next, turn = x_turn](arguments... values) {
            if (turn == self->x_turn) ((*self).*next)(std::forward<arguments>(values)...);
        };
    }

    std::shared_ptr<shared> x_shared;
    request x_request;
    client::callback x_callback;
    piece_callback x_read;  // the caller waits for a piece of the answer's body
    answer x_answer;
    steady_clock::time_point x_started;
    steady_clock::time_point x_deadline;
    steady_clock::time_point x_phase_started;
    const char* x_phase = "starting";
    asio::steady_timer x_timer;
    std::uint64_t x_turn = 0;  // raised to drop the callbacks of what was begun before

    location x_location;
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
    body_permit x_permit;
    bool x_is_sent = false;
    error_code x_send_error;
    bool x_got_bytes = false;
    std::uint64_t x_piece_bytes = 0;  // of body_pieces, so far
    bool x_is_streaming = false;      // the head was handed out: from now on read() does the reading
    bool x_is_complete = false;       // so is the answer
    std::string x_piece;
};

void running::start() {
    limit_by_deadline();
    asio::post(x_shared->io, step(&running::resolve));
}

void running::cancel() {
    ++x_turn;
    x_callback = nullptr;
    x_read = nullptr;
    x_timer.cancel();
    x_lookup.reset();
    x_request.body_pieces.reset();
    if (x_connection) x_connection->close();
}

void running::resolve() {
    auto where = parse_location(x_request.location, x_shared->options.http, x_shared->options.policy);
    if (!where) {
        x_answer.refused_for_good = true;
        return fail(failure::address_not_allowed, where.error().message);
    }
    x_location = std::move(*where);
    x_pool_key = x_request.pool_key + (x_location.tls ? " https " : " http ") + x_location.authority();
    if (x_location.literal) return take_addresses({*x_location.literal});

    x_phase = "looking the name up";
    x_phase_started = steady_clock::now();
    x_lookup = x_shared->names->resolve(
        x_location.host, [self = shared_from_this(), turn = x_turn](result<std::vector<ip_address>> found) {
            if (turn != self->x_turn) return;
            self->x_answer.times.dns_us = us_between(self->x_phase_started, steady_clock::now());
            if (!found) {
                self->x_answer.own_shortage = no_descriptor_left();
                return self->fail(failure::dns, found.error().message);
            }
            self->take_addresses(std::move(*found));
        });
}

void running::take_addresses(std::vector<ip_address> addresses) {
    const auto verdict = x_shared->options.policy.judge_all(addresses);
    if (!verdict.allowed) {
        return fail(failure::address_not_allowed, x_location.host + " leads to " + verdict.reason);
    }
    x_addresses = std::move(addresses);
    if (!x_request.body_pieces) x_connection = x_shared->pool->take(x_pool_key, x_addresses);
    if (!x_connection) {
        return connect_first();
    }
    x_reused = true;
    if (const auto peer = x_connection->peer()) x_address = *peer;
    send_request();
}

void running::connect_first() {
    x_addresses.resize(std::min(x_addresses.size(), addresses_tried_max));
    x_phase_started = steady_clock::now();
    connect_next();
}

void running::connect_next() {
    if (x_next_address == x_addresses.size()) return fail(failure::connect, x_connect_errors);
    if (*x_shared->open_connections >= x_shared->options.connections_max && !x_shared->pool->drop_oldest()) {
        x_answer.own_shortage = true;
        return fail(failure::connect, "too many connections are open");
    }
    // Each address has its share of what is left of the time to connect.
    const auto now = steady_clock::now();
    const auto connect_until = x_phase_started + milliseconds(x_request.connect_ms_max);
    const auto share = (connect_until - now) / static_cast<int>(x_addresses.size() - x_next_address);
    limit(std::min(now + share, x_deadline), &running::connect_timed_out);
    x_phase = "connecting";
    x_address = x_addresses[x_next_address++];
    x_answer.address = with_port(x_address, x_location.port);
    x_connection = std::make_shared<connection>(x_shared->io, x_shared->open_connections);
    x_connection->connect(
        x_address, x_location.port, [self = shared_from_this(), turn = ++x_turn](error_code ec) {
            if (turn != self->x_turn) return;
            if (!ec) return self->connected();
            self->x_answer.own_shortage = is_own_shortage(ec);
            self->x_connect_errors +=
                (self->x_connect_errors.empty() ? "" : "; ") + self->x_answer.address + ": " + ec.message();
            self->connect_next();
        });
}

void running::connect_timed_out() {
    if (steady_clock::now() >= x_deadline) return timed_out();
    x_connect_errors += (x_connect_errors.empty() ? "" : "; ") + x_answer.address + ": no connection in time";
    x_connection->close();
    connect_next();
}

void running::connected() {
    limit_by_deadline();
    const auto now = steady_clock::now();
    x_answer.times.connect_us = us_between(x_phase_started, now);
    const auto peer = x_connection->peer();
    if (!peer || *peer != x_address || !x_shared->options.policy.judge(*peer).allowed) {
        return fail(failure::address_not_allowed,
                    "the connection leads elsewhere than to " + x_answer.address);
    }
    if (!x_location.tls) return send_request();
    x_phase = "in the TLS handshake";
    x_phase_started = now;
    x_connection->secure(x_shared->tls, x_location, x_shared->sessions.take(x_pool_key),
                         step(&running::secured));
}

void running::secured(error_code ec) {
    x_answer.times.tls_us = us_between(x_phase_started, steady_clock::now());
    if (ec) return fail(failure::tls, x_connection->why_not_secure(ec));
    send_request();
}

void running::send_request() {
    x_answer.address = with_port(x_address, x_location.port);
    x_parser = std::make_unique<answer_parser>(
        answer_form{x_request.method, x_request.answer, x_request.answer_body_bytes_max});
    x_phase = "sending the request";
    x_phase_started = steady_clock::now();
    x_on_the_wire = true;
    // Reading at once: the other side may answer before it has read everything, and then close.
    receive_later();
    x_connection->send(request_text(x_request, x_location), step(&running::sent));
}

void running::sent(error_code ec) {
    x_send_error = ec;  // the answer may be on its way all the same: received() decides
    if (ec || x_is_streaming) return;
    if (x_permit == body_permit::to_be_asked) return wait_to_continue();
    if (x_request.body_pieces) return ask_for_piece();
    x_is_sent = true;
    if (!x_got_bytes) x_phase = "waiting for the answer";
}

void running::wait_to_continue() {
    x_permit = body_permit::awaited;
    if (x_parser->is_asked_to_continue()) return send_body();
    x_phase = "waiting to be asked for the body";
    limit(std::min(x_deadline, steady_clock::now() + milliseconds(limits::client_continue_ms)),
          &running::send_body);
}

void running::send_body() {
    if (x_parser->has_head()) return limit_by_deadline();  // the final answer: the body is not wanted
    x_permit = body_permit::given;
    x_phase = "sending the request";
    ask_for_piece();
}

void running::ask_for_piece() {
    limit(steady_clock::now() + milliseconds(x_request.piece_ms_max), &running::piece_timed_out);
    x_request.body_pieces->next([self = shared_from_this(), turn = x_turn](result<std::string_view> piece) {
        if (turn == self->x_turn && !self->x_is_streaming) self->send_piece(piece);
    });
}

void running::send_piece(result<std::string_view> piece) {
    if (!piece) return fail(failure::request_body, piece.error().message);
    x_piece_bytes += piece->size();
    const auto& expected = x_request.body_pieces_bytes;
    const bool is_wrong =
        expected && (piece->empty() ? x_piece_bytes != *expected : x_piece_bytes > *expected);
    if (is_wrong) {
        return fail(failure::request_body, "the body of the request has " + std::to_string(x_piece_bytes) +
                                               " bytes or more, not " + std::to_string(*expected));
    }
    if (!piece->empty()) {
        x_connection->send(expected ? std::string(*piece) : chunk_text(*piece), step(&running::sent));
    } else if (expected) {
        end_of_pieces();
    } else {
        x_connection->send(chunk_text({}), step(&running::last_chunk_sent));
    }
}

void running::last_chunk_sent(error_code ec) {
    x_send_error = ec;
    if (!ec && !x_is_streaming) end_of_pieces();
}

void running::end_of_pieces() {
    x_is_sent = true;
    x_request.body_pieces.reset();
    x_deadline = steady_clock::now() + milliseconds(x_request.deadline_ms);
    limit_by_deadline();
    if (!x_got_bytes) x_phase = "waiting for the answer";
}

void running::receive_later() { x_connection->receive(step(&running::received)); }

void running::received(error_code ec, std::string_view bytes) {
    if (ec) return broke_off(ec);
    if (!std::exchange(x_got_bytes, true)) {
        x_answer.times.first_byte_us = us_between(x_phase_started, steady_clock::now());
        x_phase = "reading the answer";
    }
    switch (x_parser->feed(bytes)) {
        case answer_parser::progress::more:
            if (x_request.answer == answer_body::streamed && x_parser->has_head()) return head_came();
            if (x_permit == body_permit::awaited && x_parser->is_asked_to_continue()) send_body();
            return receive_later();
        case answer_parser::progress::failed:
            return fail(failure::protocol, x_parser->failure());
        case answer_parser::progress::complete:
            return complete();
    }
}

void running::complete() {
    const bool usable = x_is_sent && x_parser->leaves_connection_usable();
    x_is_complete = true;
    if (SSL* const tls = x_connection->tls()) x_shared->sessions.keep(x_pool_key, tls);
    if (usable) {
        x_shared->pool->put(x_pool_key, x_address, std::exchange(x_connection, nullptr));
    }
    if (x_request.answer == answer_body::streamed) return head_came();
    x_answer.status = x_parser->status();
    x_answer.headers = std::move(x_parser->headers());
    x_answer.body = std::move(x_parser->body());
    x_answer.body_is_cut = x_parser->is_cut();
    finish();
}

/// The head and perhaps more of a streamed answer. What the caller has not asked for yet waits in the parser,
/// and the socket is not read meanwhile.
void running::head_came() {
    x_phase = "reading the answer";
    if (std::exchange(x_is_streaming, true)) {
        if (!hand_out_piece()) receive_later();
        return;
    }
    x_timer.cancel();
    x_request.body_pieces.reset();
    x_answer.status = x_parser->status();
    x_answer.headers = std::move(x_parser->headers());
    x_answer.times.total_us = us_between(x_started, steady_clock::now());
    const auto callback = std::exchange(x_callback, nullptr);
    callback(std::move(x_answer));
}

void running::read(piece_callback call_back) {
    x_read = std::move(call_back);
    limit(steady_clock::now() + milliseconds(x_request.piece_ms_max), &running::piece_timed_out);
    if (x_is_complete || !x_parser->body().empty()) {
        asio::post(x_shared->io, step(&running::hand_out));
    } else {
        receive_later();
    }
}

/// False when there is nothing to hand out yet.
bool running::hand_out_piece() {
    if (x_parser->body().empty() && !x_is_complete) return false;
    x_timer.cancel();
    x_piece = std::exchange(x_parser->body(), std::string());
    const auto callback = std::exchange(x_read, nullptr);
    callback(std::string_view(x_piece));
    return true;
}

void running::broke_off(error_code ec) {
    if (!x_got_bytes && x_reused && send_again_on_new_connection()) return;
    if (ec == asio::error::eof && x_parser->end() == answer_parser::progress::complete) return complete();
    if (!x_is_sent && !x_got_bytes) {
        const error_code& cause = x_send_error ? x_send_error : ec;
        return fail(failure::write, "sending the request: " + cause.message());
    }
    fail(failure::protocol,
         ec == asio::error::eof ? x_parser->failure() : "reading the answer: " + ec.message());
}

bool running::send_again_on_new_connection() {
    ++x_turn;
    x_connection->close();
    x_reused = false;
    x_is_sent = false;
    x_send_error = {};
    connect_first();
    return true;
}

void running::limit(steady_clock::time_point at, void (running::*on_limit)()) {
    x_timer.expires_at(at);
    x_timer.async_wait([self = shared_from_this(), on_limit](error_code ec) {
        // A wait that had ended when the limit was moved is not ours any more.
        const bool is_due = !ec && self->x_timer.expiry() <= steady_clock::now();
        if (is_due && (self->x_callback || self->x_read)) ((*self).*on_limit)();
    });
}

void running::timed_out() {
    fail(failure::timeout, "not done within " + std::to_string(x_request.deadline_ms) + " ms: " + x_phase);
}

void running::piece_timed_out() {
    fail(failure::timeout, "nothing for " + std::to_string(x_request.piece_ms_max) + " ms: " + x_phase);
}

void running::fail(failure failed, std::string message) {
    if (!x_is_streaming) {
        x_answer.failed = failed;
        x_answer.message = std::move(message);
        return finish();
    }
    const auto callback = std::exchange(x_read, nullptr);
    cancel();
    const bool is_late = failed == failure::timeout;
    error reason = runtime::unavailable(std::move(message));
    if (is_late) reason.code = runtime::error_code::deadline_exceeded;
    callback(std::move(reason));
}

void running::finish() {
    const auto callback = std::exchange(x_callback, nullptr);
    cancel();
    x_connection.reset();
    x_answer.times.total_us = us_between(x_started, steady_clock::now());
    callback(std::move(x_answer));
}

class handle final : public exchange {
  public:
    explicit handle(std::shared_ptr<running> running) : x_running(std::move(running)) {}
    ~handle() override { x_running->cancel(); }
    handle(const handle&) = delete;
    handle& operator=(const handle&) = delete;
    bool on_the_wire() const noexcept override { return x_running->on_the_wire(); }
    void read(piece_callback call_back) override { x_running->read(std::move(call_back)); }

  private:
    std::shared_ptr<running> x_running;
};

class pooling_client final : public client {
  public:
    pooling_client(asio::io_context& io, client_options options)
        : x_shared(std::make_shared<shared>(io, std::move(options))) {}
    ~pooling_client() override { x_shared->pool->close(); }
    pooling_client(const pooling_client&) = delete;
    pooling_client& operator=(const pooling_client&) = delete;

    std::unique_ptr<exchange> start(request asked, callback call_back) override {
        auto started = std::make_shared<running>(x_shared, std::move(asked), std::move(call_back));
        started->start();
        return std::make_unique<handle>(std::move(started));
    }

  private:
    std::shared_ptr<shared> x_shared;
};

}  // namespace

std::unique_ptr<client> make_client(asio::io_context& io, client_options options) {
    return std::make_unique<pooling_client>(io, std::move(options));
}

}  // namespace herald::runtime::http::client
