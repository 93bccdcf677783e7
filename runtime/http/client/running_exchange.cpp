#include "runtime/http/client/running_exchange.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include "runtime/http/client/request_writer.hpp"
#include "runtime/http/limits.hpp"

namespace herald::runtime::http::client {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::uint32_t us_between(steady_clock::time_point from, steady_clock::time_point to) {
    return static_cast<std::uint32_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(to - from).count());
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

/// A look-up may have failed for lack of a socket, which the resolver does not report.
bool no_descriptor_left() {
    const int descriptor = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return true;
    ::close(descriptor);
    return false;
}

}  // namespace

void running_exchange::start() {
    limit_by_deadline();
    asio::post(x_shared->io, step(&running_exchange::resolve));
}

void running_exchange::cancel() {
    ++x_turn;
    x_callback = nullptr;
    x_read = nullptr;
    x_timer.cancel();
    x_lookup.reset();
    x_request.body_pieces.reset();
    if (x_connection) x_connection->close();
}

void running_exchange::resolve() {
    auto where = parse_location(x_request.location, x_shared->options.http, x_shared->options.policy);
    if (!where) {
        x_answer.refused_for_good = true;
        return fail(failure::address_not_allowed, where.error().message);
    }
    x_location = std::move(*where);
    x_place_key = (x_location.tls ? " https " : " http ") + x_location.authority();
    x_pool_key = x_request.pool_key + x_place_key;
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

void running_exchange::take_addresses(std::vector<ip_address> addresses) {
    const auto verdict = x_shared->options.policy.judge_all(addresses);
    if (!verdict.allowed) {
        return fail(failure::address_not_allowed, x_location.host + " leads to " + verdict.reason);
    }
    x_addresses = std::move(addresses);
    if (!x_request.body_pieces) {
        auto taken = x_shared->pool->take(x_pool_key, x_addresses);
        x_connection = std::move(taken.held);
        x_address = taken.address;
    }
    if (!x_connection) return connect_first();
    x_reused = true;
    send_request();
}

void running_exchange::connect_first() {
    x_addresses.resize(std::min(x_addresses.size(), limits::client_addresses_tried_max));
    if (x_shared->options.proxy && !x_proxy_address) return resolve_proxy();
    x_phase_started = steady_clock::now();
    connect_next();
}

/// For one more connection; idle ones give way. False when there is none, and the exchange has failed.
bool running_exchange::makes_room() {
    const client_options& options = x_shared->options;
    const std::size_t to_it = x_shared->open->count_to(x_place_key);
    if (to_it >= options.connections_to_one_max && !x_shared->pool->drop_oldest_of(x_place_key)) {
        x_answer.location_is_full = true;
        fail(failure::connect, std::to_string(to_it) + " connections to it are open and in use");
        return false;
    }
    if (x_shared->open->count() >= options.connections_max && !x_shared->pool->drop_oldest()) {
        x_answer.own_shortage = true;
        fail(failure::connect, "too many connections are open");
        return false;
    }
    return true;
}

void running_exchange::connect_next() {
    if (x_next_address == x_addresses.size()) return fail(failure::connect, x_connect_errors);
    if (!makes_room()) return;
    // Each address gets its share of the time left for connecting.
    const auto now = steady_clock::now();
    const auto connect_until = x_phase_started + milliseconds(x_request.connect_ms_max);
    const auto share = (connect_until - now) / static_cast<int>(x_addresses.size() - x_next_address);
    limit(std::min(now + share, x_deadline), &running_exchange::connect_timed_out);
    x_phase = "connecting";
    x_address = x_addresses[x_next_address++];
    x_answer.address = with_port(x_address, x_location.port);
    x_connection = std::make_shared<connection>(x_shared->io, x_shared->open->place(x_place_key));
    const auto& proxy = x_shared->options.proxy;
    x_connection->connect(proxy ? *x_proxy_address : x_address, proxy ? proxy->port : x_location.port,
                          [self = shared_from_this(), turn = ++x_turn](error_code ec) {
                              if (turn != self->x_turn) return;
                              if (!ec) return self->connected();
                              self->x_answer.own_shortage = is_own_shortage(ec) || self->x_proxy_address;
                              self->try_next_address(ec.message());
                          });
}

void running_exchange::try_next_address(const std::string& why_not) {
    const std::string through = x_proxy_address ? " through the egress proxy" : "";
    x_connect_errors += (x_connect_errors.empty() ? "" : "; ") + x_answer.address + through + ": " + why_not;
    connect_next();
}

void running_exchange::connect_timed_out() {
    if (looks_again(&running_exchange::connect_timed_out)) return;
    if (steady_clock::now() >= x_deadline) return timed_out();
    x_answer.own_shortage = x_proxy_address.has_value();
    x_connection->close();
    try_next_address("no connection in time");
}

void running_exchange::connected() {
    limit_by_deadline();
    const auto peer = x_connection->peer();
    if (x_proxy_address) {
        if (!peer || *peer != *x_proxy_address)
            return fail(failure::address_not_allowed,
                        "the connection leads elsewhere than to the egress proxy");
        return ask_proxy();
    }
    if (!peer || *peer != x_address || !x_shared->options.policy.judge(*peer).allowed) {
        return fail(failure::address_not_allowed,
                    "the connection leads elsewhere than to " + x_answer.address);
    }
    tunnel_stands();
}

/// An address that the operator gave, or the first one of its name.
void running_exchange::resolve_proxy() {
    const location& proxy = *x_shared->options.proxy;
    if (proxy.literal) {
        x_proxy_address = proxy.literal;
        return connect_first();
    }
    x_phase = "looking the egress proxy's name up";
    x_lookup = x_shared->names->resolve(proxy.host, [self = shared_from_this(),
                                                     turn = x_turn](result<std::vector<ip_address>> found) {
        if (turn != self->x_turn) return;
        if (!found || found->empty()) {
            self->x_answer.own_shortage = true;
            return self->fail(failure::connect, "the egress proxy's name does not resolve" +
                                                    (found ? std::string() : ": " + found.error().message));
        }
        self->x_proxy_address = found->front();
        self->connect_first();
    });
}

/// For the literal address that was judged: the proxy looks up no name (delivery.md §5).
void running_exchange::ask_proxy() {
    x_phase = "asking the egress proxy";
    x_answer.own_shortage = false;
    x_proxy_answer.clear();
    x_connection->receive(step(&running_exchange::proxy_answered));
    x_connection->send("CONNECT " + x_answer.address + " HTTP/1.1\r\nHost: " + x_answer.address + "\r\n\r\n",
                       [](error_code) {});  // an answer tells, or the end of the connection
}

void running_exchange::proxy_answered(error_code ec, std::string_view bytes) {
    if (ec) return try_next_address("the proxy ended the connection: " + ec.message());
    x_proxy_answer += bytes;
    constexpr std::string_view end_of_head = "\r\n\r\n";
    const std::size_t end = x_proxy_answer.find(end_of_head);
    if (end == x_proxy_answer.npos && x_proxy_answer.size() < limits::answer_header_bytes_max)
        return x_connection->receive(step(&running_exchange::proxy_answered));
    const std::string_view line = std::string_view(x_proxy_answer).substr(0, x_proxy_answer.find("\r\n"));
    const bool is_http = line.starts_with("HTTP/1.") && line.size() >= 12 && line[8] == ' ';
    const bool is_whole = end != x_proxy_answer.npos && end + end_of_head.size() == x_proxy_answer.size();
    if (is_http && line[9] == '2' && is_whole) return tunnel_stands();
    x_connection->close();
    try_next_address(is_http && line[9] != '2' ? "the proxy answered " + std::string(line.substr(9, 3))
                                               : "what the proxy answered is not an answer to CONNECT");
}

void running_exchange::tunnel_stands() {
    const auto now = steady_clock::now();
    x_answer.times.connect_us = us_between(x_phase_started, now);
    if (!x_location.tls) return send_request();
    x_phase = "in the TLS handshake";
    x_phase_started = now;
    x_connection->secure(x_shared->tls, x_location, x_shared->sessions.take(x_pool_key),
                         step(&running_exchange::secured));
}

void running_exchange::secured(error_code ec) {
    x_answer.times.tls_us = us_between(x_phase_started, steady_clock::now());
    if (ec) return fail(failure::tls, x_connection->why_not_secure(ec));
    send_request();
}

void running_exchange::send_request() {
    x_answer.address = with_port(x_address, x_location.port);
    x_parser = std::make_unique<answer_parser>(
        answer_form{x_request.method, x_request.answer, x_request.answer_body_bytes_max});
    x_phase = "sending the request";
    x_phase_started = steady_clock::now();
    x_on_the_wire = true;
    // Start reading at once: the other side may answer and close before it has read everything.
    receive_later();
    x_connection->send(request_text(x_request, x_location), step(&running_exchange::sent));
}

void running_exchange::sent(error_code ec) {
    x_send_error = ec;  // an answer may still be on its way: received() decides
    if (ec || x_is_streaming) return;
    if (x_permit == body_permit::to_be_asked) return wait_to_continue();
    if (x_request.body_pieces) return ask_for_piece();
    x_is_sent = true;
    if (!x_got_bytes) x_phase = "waiting for the answer";
}

void running_exchange::wait_to_continue() {
    x_permit = body_permit::awaited;
    if (x_parser->is_asked_to_continue()) return send_body();
    x_phase = "waiting to be asked for the body";
    limit(std::min(x_deadline, steady_clock::now() + milliseconds(limits::client_continue_ms)),
          &running_exchange::send_body);
}

void running_exchange::send_body() {
    if (x_parser->has_head()) return limit_by_deadline();  // the final answer: the body is not wanted
    x_permit = body_permit::given;
    x_phase = "sending the request";
    ask_for_piece();
}

void running_exchange::ask_for_piece() {
    limit(steady_clock::now() + milliseconds(x_request.piece_ms_max), &running_exchange::piece_timed_out);
    x_request.body_pieces->next([self = shared_from_this(), turn = x_turn](result<std::string_view> piece) {
        if (turn == self->x_turn && !self->x_is_streaming) self->send_piece(piece);
    });
}

void running_exchange::send_piece(result<std::string_view> piece) {
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
        x_connection->send(expected ? std::string(*piece) : chunk_text(*piece),
                           step(&running_exchange::sent));
    } else if (expected) {
        end_of_pieces();
    } else {
        x_connection->send(chunk_text({}), step(&running_exchange::last_chunk_sent));
    }
}

void running_exchange::last_chunk_sent(error_code ec) {
    x_send_error = ec;
    if (!ec && !x_is_streaming) end_of_pieces();
}

void running_exchange::end_of_pieces() {
    x_is_sent = true;
    x_request.body_pieces.reset();
    x_deadline = steady_clock::now() + milliseconds(x_request.deadline_ms);
    limit_by_deadline();
    if (!x_got_bytes) x_phase = "waiting for the answer";
}

void running_exchange::receive_later() { x_connection->receive(step(&running_exchange::received)); }

void running_exchange::received(error_code ec, std::string_view bytes) {
    if (ec) return broke_off(ec);
    if (!std::exchange(x_got_bytes, true)) {
        x_answer.has_begun = true;
        x_answer.times.first_byte_us = us_between(x_phase_started, steady_clock::now());
        x_phase = "reading the answer";
    }
    switch (x_parser->feed(bytes)) {
        case answer_parser::progress::more:
            if (x_parser->has_head() && is_streamed()) return head_came();
            if (x_permit == body_permit::awaited && x_parser->is_asked_to_continue()) send_body();
            return receive_later();
        case answer_parser::progress::failed:
            return fail(failure::protocol, x_parser->failure());
        case answer_parser::progress::complete:
            return complete();
    }
}

/// Once there is a head.
bool running_exchange::is_streamed() const {
    if (x_request.answer != answer_body::collected_if_short) return x_request.answer == answer_body::streamed;
    const auto bytes = x_parser->body_bytes();
    return x_is_streaming || !bytes || *bytes > x_request.answer_body_bytes_max;
}

void running_exchange::complete() {
    x_answer.answer_ms = x_connection->answer_ms();
    const bool usable = x_is_sent && x_parser->leaves_connection_usable();
    x_is_complete = true;
    if (SSL* const tls = x_connection->tls()) x_shared->sessions.keep(x_pool_key, tls);
    if (usable) {
        x_shared->pool->put(x_pool_key, x_address, std::exchange(x_connection, nullptr));
    }
    if (x_is_streaming || x_request.answer == answer_body::streamed) return head_came();
    x_answer.status = x_parser->status();
    x_answer.headers = std::move(x_parser->headers());
    x_answer.body = std::move(x_parser->body());
    x_answer.body_is_cut = x_parser->is_cut();
    finish();
}

/// The head has arrived, and perhaps part of a streamed answer. What the caller has not asked for yet waits
/// in the parser, and meanwhile the socket is not read.
void running_exchange::head_came() {
    x_phase = "reading the answer";
    if (std::exchange(x_is_streaming, true)) {
        if (!hand_out_piece()) receive_later();
        return;
    }
    x_timer.cancel();
    x_request.body_pieces.reset();
    x_answer.status = x_parser->status();
    x_answer.headers = std::move(x_parser->headers());
    x_answer.body_follows = true;
    x_answer.body_bytes = x_parser->body_bytes();
    x_answer.times.total_us = us_between(x_started, steady_clock::now());
    const auto callback = std::exchange(x_callback, nullptr);
    callback(std::move(x_answer));
}

void running_exchange::read(piece_callback call_back) {
    x_read = std::move(call_back);
    if (x_request.deadline_ends_body) {
        limit_by_deadline();
    } else {
        limit(steady_clock::now() + milliseconds(x_request.piece_ms_max), &running_exchange::piece_timed_out);
    }
    if (x_is_complete || !x_parser->body().empty()) {
        asio::post(x_shared->io, step(&running_exchange::hand_out));
    } else {
        receive_later();
    }
}

/// False when there is nothing to hand out yet.
bool running_exchange::hand_out_piece() {
    if (x_parser->body().empty() && !x_is_complete) return false;
    x_timer.cancel();
    x_piece = std::exchange(x_parser->body(), std::string());
    const auto callback = std::exchange(x_read, nullptr);
    callback(std::string_view(x_piece));
    return true;
}

void running_exchange::broke_off(error_code ec) {
    if (may_send_again(ec)) return send_again_on_new_connection();
    if (ec == asio::error::eof && x_parser->end() == answer_parser::progress::complete) return complete();
    if (!x_is_sent && !x_got_bytes) {
        const error_code& cause = x_send_error ? x_send_error : ec;
        return fail(failure::write, "sending the request: " + cause.message());
    }
    fail(failure::protocol,
         ec == asio::error::eof ? x_parser->failure() : "reading the answer: " + ec.message());
}

bool running_exchange::may_send_again(error_code how_it_ended) const {
    if (x_got_bytes || !x_reused) return false;
    if (x_request.on_reused == repeat::always || !x_is_sent) return true;
    return x_connection->bytes_not_arrived(how_it_ended) > 0;
}

void running_exchange::send_again_on_new_connection() {
    ++x_turn;
    x_connection->close();
    x_reused = false;
    x_is_sent = false;
    x_send_error = {};
    connect_first();
}

void running_exchange::limit(steady_clock::time_point at, void (running_exchange::*on_limit)()) {
    x_timer.expires_at(at);
    x_timer.async_wait([self = shared_from_this(), on_limit](error_code ec) {
        // A wait that had already ended when the limit was moved no longer counts.
        const bool is_due = !ec && self->x_timer.expiry() <= steady_clock::now();
        if (is_due && (self->x_callback || self->x_read)) ((*self).*on_limit)();
    });
}

/// When this loop is late a limit may be over before it has looked at what came in time: it looks once more.
bool running_exchange::looks_again(void (running_exchange::*on_limit)()) {
    if (x_looked_again || !x_connection || !x_connection->has_news()) return false;
    x_looked_again = true;
    limit(steady_clock::now() + milliseconds(limits::client_last_look_ms), on_limit);
    return true;
}

void running_exchange::timed_out() {
    if (looks_again(&running_exchange::timed_out)) return;
    fail(failure::timeout, "not done within " + std::to_string(x_request.deadline_ms) + " ms: " + x_phase);
}

void running_exchange::piece_timed_out() {
    fail(failure::timeout, "nothing for " + std::to_string(x_request.piece_ms_max) + " ms: " + x_phase);
}

void running_exchange::fail(failure failed, std::string message) {
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

void running_exchange::finish() {
    const auto callback = std::exchange(x_callback, nullptr);
    cancel();
    x_connection.reset();
    x_answer.times.total_us = us_between(x_started, steady_clock::now());
    callback(std::move(x_answer));
}

}  // namespace herald::runtime::http::client
