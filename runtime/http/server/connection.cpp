#include "runtime/http/server/connection.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>
#include <exception>
#include <span>
#include <utility>

#include "runtime/deadline.hpp"
#include "runtime/http/body.hpp"
#include "runtime/http/server/awaiting.hpp"
#include "runtime/http/server/incoming_pace.hpp"
#include "runtime/http/server/linger.hpp"
#include "runtime/http/server/outgoing_answer.hpp"
#include "runtime/http/server/parser.hpp"
#include "runtime/http/server/request_id.hpp"
#include "runtime/http/server/request_report.hpp"
#include "runtime/http/server/request_room.hpp"
#include "runtime/http/server/socket_peer.hpp"
#include "runtime/http/server/stream_connection.hpp"
#include "runtime/http/server/stream_pace.hpp"
#include "runtime/http/server/stream_sending.hpp"

namespace herald::runtime::http::server {

using progress = request_parser::progress;

template <class Stream>
tcp_socket& stream_connection<Stream>::socket() noexcept {
    if constexpr (is_tls) {
        return x_stream.next_layer();
    } else {
        return x_stream;
    }
}

template <class Stream>
asio::awaitable<void> stream_connection<Stream>::run() {
    x_stop = co_await asio::this_coro::cancellation_state;
    if constexpr (is_tls) co_await shake_hands();
    while (x_is_open) {
        const progress step = x_parser.advance();
        if (step == progress::head) {
            begin();
            const bool fits = x_parser.allow_body(x_plan.body_bytes_max);
            if (fits && x_plan.streams_body) co_await serve_streamed();
            continue;  // go on to the body, or to what is wrong with it
        }
        const bool is_judged = x_is_judged || !x_parser.has_head();
        if (step == progress::need_more && is_judged && !x_is_late && has_room_for_body()) {
            expect_bytes();
            const std::span<char> space = x_parser.space();
            const auto [failed, bytes] =
                co_await x_stream.async_read_some(asio::mutable_buffer(space.data(), space.size()), outcome);
            came(bool(failed), bytes);
            continue;
        }
        x_deadline.clear();
        if (step == progress::complete && !x_room.hold_finished(x_parser.body_bytes())) {
            refuse(runtime::unavailable("too many large requests wait for their answers; try again"));
        } else if (step == progress::complete) {
            if (!answer_now()) co_await answer_later();
            write_answer();
        } else if (step == progress::failed) {
            if (is_too_large() && !x_is_judged) co_await judge();
            if (!x_closes) refuse(x_parser.failure());
        } else if (x_is_late) {
            refuse({error_code::deadline_exceeded, "the request did not come in time", 408});
        } else if (is_judged) {
            refuse(runtime::unavailable("too many bodies come at once; try again"));
        } else {
            co_await judge();
            ask_for_body();
            if (x_out.is_sent()) continue;  // the body is being sent
        }
        if (!send_now()) co_await send_rest();
        if (x_out.is_streaming()) co_await send_stream();
        if (step != progress::need_more || x_closes) answered();
    }
    if (x_closes && !x_is_broken) co_await linger();
}

template <class Stream>
void stream_connection<Stream>::wind_down() {
    // What has already arrived is still read and answered; then the read ends.
    boost::system::error_code ignored;
    if (x_is_waiting && x_parser.is_idle()) socket().shutdown(tcp_socket::shutdown_receive, ignored);
    if (x_is_mid_stream) x_out.get().stream->wind_down();
}

template <class Stream>
void stream_connection<Stream>::time_out() {
    x_is_late = true;
    boost::system::error_code ignored;
    socket().cancel(ignored);
}

template <class Stream>
asio::awaitable<void> stream_connection<Stream>::shake_hands() {
    if constexpr (is_tls) {
        x_deadline.set_after(x_bounds.header_ms);
        const auto [failed] = co_await x_stream.async_handshake(tls_stream::server, outcome);
        x_deadline.clear();
        if (failed) x_is_open = false, x_is_broken = true;
    }
    co_return;
}

template <class Stream>
void stream_connection<Stream>::expect_bytes() {
    using phase = incoming_pace::phase;
    const phase now_in = x_parser.is_idle() ? phase::idle : x_parser.has_head() ? phase::body : phase::header;
    x_deadline.set(x_pace.until_ms(now_in, x_parser.body_bytes(), x_all.loop.time().steady_ms()));
    x_is_waiting = true;
    if (x_all.is_draining) wind_down();
}

template <class Stream>
void stream_connection<Stream>::came(bool failed, std::size_t bytes) {
    x_is_waiting = false;
    if (!failed) {
        if (x_parser.is_idle()) x_started_us = steady_us();
        x_parser.received(bytes);
    } else if (!x_is_late || x_parser.is_idle()) {
        x_is_open = false;  // the client left, or sent no request
    }
}

// Each request once, when its head is there: finds its handler and the plan.
template <class Stream>
void stream_connection<Stream>::begin() noexcept {
    if (x_handler) return;
    request& asked = x_parser.get();
    asked.loop_index = x_all.loop.index();
    x_handler = &x_all.room.handler.load(std::memory_order_acquire)->begin(asked, x_plan);
}

// The header has arrived, the body has not. A refusal, if any, is in unsent().
template <class Stream>
asio::awaitable<void> stream_connection<Stream>::judge() {
    x_is_judged = true;
    if (x_plan.is_decided) {
        answer_now();
        x_closes = true;
        write_answer();
        co_return;
    }
    identify();
    std::optional<http_response> refusal;
    try {
        refusal = co_await x_handler->judge(x_parser.get(), x_plan);
    } catch (const std::exception& thrown) {
        if (is_stopped()) throw;
        handler_threw(thrown.what());
        refusal = std::move(x_out.get());
    }
    if (refusal) {
        x_out.get() = *std::move(refusal);
        x_closes = true;
        write_answer();
    }
}

/// A caller that may not send a body at all gets that error, not the size limit.
template <class Stream>
bool stream_connection<Stream>::is_too_large() const noexcept {
    return x_parser.has_head() && http_status(x_parser.failure()) == 413;
}

// A request whose body is streamed to the handler, from the end of its header to the end of its answer.
template <class Stream>
asio::awaitable<void> stream_connection<Stream>::serve_streamed() {
    x_deadline.clear();
    co_await judge();  // first: a caller that may not send a body takes no room for one
    if (!x_closes && x_room.hold_unfinished(request_parser::streamed_bytes_max)) {
        x_parser.stream_body();
        if (!x_id.echo_name.empty()) identify();  // the head has moved
        ask_for_body();
        if (!x_out.is_sent() && !send_now()) co_await send_rest();
    } else if (!x_closes) {
        refuse(runtime::unavailable("too many bodies come at once; try again"));
    }
    if (x_is_broken) co_return;
    if (!x_closes) {  // nobody refused it
        x_has_incoming_end = false;
        x_stream_pace.begin();
        x_parser.get().stream = &x_incoming;
        co_await answer_later();
        x_closes = x_closes || !x_has_incoming_end;
        write_answer();
    }
    if (!x_is_broken && !send_now()) co_await send_rest();
    if (x_out.is_streaming()) co_await send_stream();
    answered();
}

template <class Stream>
asio::awaitable<result<std::string_view>> stream_connection<Stream>::next_incoming() {
    x_parser.drop_piece();
    while (true) {
        const progress step = x_parser.advance();
        if (step == progress::failed) co_return x_parser.failure();
        x_has_incoming_end = step == progress::complete && x_parser.piece().empty();
        if (x_has_incoming_end || !x_parser.piece().empty()) co_return x_parser.piece();
        const std::int64_t since_ms = x_all.loop.time().steady_ms();
        x_deadline.set_after(x_stream_pace.ms_left());
        const std::span<char> space = x_parser.space();
        const auto [failed, bytes] =
            co_await x_stream.async_read_some(asio::mutable_buffer(space.data(), space.size()), outcome);
        x_deadline.clear();
        x_stream_pace.waited(x_all.loop.time().steady_ms() - since_ms, bytes);
        if (failed && std::exchange(x_is_late, false)) {
            error late{error_code::deadline_exceeded, "the body did not come in time", 408};
            co_return late;
        }
        if (failed) {
            x_is_open = false, x_is_broken = true;
            co_return runtime::unavailable("the client left before the end of the body");
        }
        x_parser.received(bytes);
    }
}

// What the request does not contain itself. Its id is the caller's if that is valid, otherwise a new one.
template <class Stream>
void stream_connection<Stream>::identify() {
    request& asked = x_parser.get();
    asked.remote_address = x_addresses.remote;
    asked.local_address = x_addresses.local;
    asked.loop_index = x_all.loop.index();
    asked.is_known = &x_place->is_known;
    asked.from = &x_peer;
    asked.room = &x_all.room.finished_bodies;
    x_id = id_of(asked.headers, x_all.writer.request_id_names());
    asked.request_id = x_id.text;
}

template <class Stream>
void stream_connection<Stream>::refuse(const error& failure) {
    // A client that reads no answer and sends on must not keep what it sent in memory meanwhile.
    x_parser.drop_body();
    x_room.clear();
    identify();
    x_out.get() = refusal(failure);
    x_closes = true;
    write_answer();
}

template <class Stream>
bool stream_connection<Stream>::answer_now() {
    identify();
    begin();
    try {
        return x_handler->handle_now(x_parser.get(), x_plan, x_out.get());
    } catch (const std::exception& thrown) {
        handler_threw(thrown.what());
        return true;
    }
}

template <class Stream>
asio::awaitable<void> stream_connection<Stream>::answer_later() {
    try {
        x_out.get() = co_await x_handler->handle(x_parser.get(), x_plan);
    } catch (const std::exception& thrown) {
        if (is_stopped()) throw;
        handler_threw(thrown.what());
    }
}

template <class Stream>
void stream_connection<Stream>::handler_threw(const char* what) {
    log_failed(runtime::log_level::error, x_parser.get(), what);
    x_out.get() = refusal(runtime::internal("an unexpected error; the log has it under this request id"));
}

template <class Stream>
void stream_connection<Stream>::write_answer() {
    x_guard = std::move(x_out.get().guard);
    x_is_guarded = x_guard != nullptr;
    replace_refused();
    write_head();
}

// Whether the guard has put another answer in the place of this one, of which nothing has gone out yet.
template <class Stream>
bool stream_connection<Stream>::replace_refused() {
    auto instead = x_is_guarded ? x_guard->instead() : std::nullopt;
    if (!instead) return false;
    x_is_guarded = false;
    x_out.get() = *std::move(instead);
    return true;
}

template <class Stream>
void stream_connection<Stream>::write_head() {
    x_out.begin({x_parser.is_head_request(), x_parser.is_http_1_0()});
    if (!has_room_for_answer(x_out.bytes_held_max())) {
        std::string lines = std::move(x_out.get().head_lines);
        x_out.get() = refusal(runtime::unavailable("too many large answers wait to be read; try again"));
        if (!lines.empty()) x_out.get().head_lines = std::move(lines);
    }
    x_closes = x_closes || x_out.ends_with_connection() || !x_parser.keep_alive() || x_all.is_draining ||
               x_requests + 1 >= x_bounds.requests;
    x_out.write_head(x_all.writer, {x_id.text, x_id.echo_name, x_parser.is_http_1_0(), x_closes});
}

// True when nothing is left to send. Most answers fit into the socket's buffer without waiting.
template <class Stream>
bool stream_connection<Stream>::send_now() {
    if constexpr (is_tls) {
        return false;
    } else {
        boost::system::error_code failed;
        const auto& [head, body] = x_out.unsent();
        // The system call for one buffer costs less.
        const std::size_t bytes = body.size() == 0 ? x_stream.write_some(head, failed)
                                                   : x_stream.write_some(x_out.unsent(), failed);
        x_stream_pace.waited(0, bytes);
        return sent(failed && failed != asio::error::would_block, bytes);
    }
}

template <class Stream>
asio::awaitable<void> stream_connection<Stream>::send_rest() {
    const std::int64_t since_ms = x_all.loop.time().steady_ms();
    std::size_t total = 0;
    bool is_sent = false;
    while (!is_sent) {
        const std::int64_t now_ms = x_all.loop.time().steady_ms();
        const std::int64_t until_ms =
            since_ms + x_bounds.write_ms_base + static_cast<std::int64_t>(total / 64) * 1000 / 1024;
        x_deadline.set(has_floor() ? std::min(until_ms, now_ms + x_stream_pace.ms_left()) : until_ms);
        if (x_is_guarded) {  // the first byte goes out in the step in which there is room for it
            const auto [gone] = co_await socket().async_wait(tcp_socket::wait_write, outcome);
            if (!gone && replace_refused()) write_head();
            is_sent = gone ? sent(true, 0) : send_now();
            if (is_sent || !is_tls) continue;
        }
        const auto [failed, bytes] = co_await x_stream.async_write_some(x_out.unsent(), outcome);
        total += bytes;
        x_stream_pace.waited(x_all.loop.time().steady_ms() - now_ms, bytes);
        is_sent = sent(bool(failed), bytes);
    }
    x_deadline.clear();
}

template <class Stream>
bool stream_connection<Stream>::sent(bool failed, std::size_t bytes) {
    x_out.sent(bytes);
    if (bytes > 0 || failed) x_is_guarded = false;
    if (failed) {
        x_is_open = false, x_is_broken = true;
        // The client did not read in time and gets no more: what the kernel still holds for it is dropped,
        // too.
        boost::system::error_code ignored;
        if (x_is_late) socket().set_option(tcp_socket::linger(true, 0), ignored);
    }
    return failed || x_out.is_sent();
}

// The head was sent. Each piece is produced when the kernel has taken the previous one.
template <class Stream>
asio::awaitable<void> stream_connection<Stream>::send_stream() {
    x_is_mid_stream = true;
    x_stream_pace.begin();
    if (x_all.is_draining) x_out.get().stream->wind_down();
    while (x_is_mid_stream && !x_is_broken) {
        const bool is_past = !is_tls && x_out.bytes_to_send_past() > 0;
        result<std::string_view> piece = std::string_view();
        if (is_past) {
            piece = co_await send_past(x_out, socket(), {x_all.loop, x_deadline, x_stream_pace, x_bounds});
        } else {
            piece = co_await next_piece(*x_out.get().stream);
        }
        if (is_stopped()) throw boost::system::system_error(asio::error::operation_aborted);
        if (is_past && piece) continue;
        const bool has_left = is_past && piece.error().code == error_code::aborted;
        if (has_left) sent(true, 0);
        if (!piece && !has_left) {
            log_failed(runtime::log_level::warning, x_parser.get(), piece.error().message);
            x_has_failed_mid_stream = true;
        }
        x_is_mid_stream = piece && !piece->empty();
        const bool is_as_promised = piece && x_out.write_piece(*piece);
        if (!is_as_promised) cut_off();
        if (!x_out.is_sent() && !send_now()) co_await send_rest();
    }
    x_is_mid_stream = false;
}

// The client must not take what it has for the whole body: no end of the body follows, and if only the end of
// the connection would show it, the connection is reset.
template <class Stream>
void stream_connection<Stream>::cut_off() {
    x_is_open = false, x_is_broken = true;
    boost::system::error_code ignored;
    if (x_parser.is_http_1_0()) socket().set_option(tcp_socket::linger(true, 0), ignored);
}

template <class Stream>
void stream_connection<Stream>::answered() {
    const std::int64_t duration_us = std::max<std::int64_t>(0, steady_us() - x_started_us);
    // The client has seen the status of the head; what became of the answer is for the operator.
    std::uint16_t status = x_out.get().status;
    if (std::exchange(x_has_failed_mid_stream, false)) status = 500;
    if (const auto guard = std::exchange(x_guard, nullptr)) guard->ended(status);
    x_all.metrics.count(status, duration_us);
    if (x_all.options.log == request_log::on)
        log_answered(x_parser.has_head() ? &x_parser.get() : nullptr, x_id.text,
                     {status, x_out.body_bytes(), duration_us, x_addresses.remote});
    ++x_requests;
    x_out.clear();
    x_room.clear();
    x_plan.clear();
    x_handler = nullptr;
    if (x_closes) x_is_open = false;
    if (!x_is_open) {
        x_parser.release();  // a client that goes on sending keeps no memory here
        return;
    }
    x_parser.next();
    x_is_judged = false;
    x_pace.next_request();
    x_is_late = false;
    x_started_us += duration_us;  // for a next request that arrived together with this one
}

template <class Stream>
asio::awaitable<void> stream_connection<Stream>::linger() {
    x_deadline.set_after(x_bounds.linger_ms);
    if constexpr (is_tls) co_await x_stream.async_shutdown(outcome);
    x_deadline.clear();
    co_await read_on(socket(), x_all.loop, x_bounds, x_all.scrap);
}

std::unique_ptr<connection> make_connection(connections_of_loop& all, tcp_socket socket,
                                            addresses_of_connection addresses, place_of_connection place,
                                            asio::ssl::context* tls) {
    if (tls)
        return std::make_unique<stream_connection<tls_stream>>(all, std::move(addresses), std::move(place),
                                                               std::move(socket), *tls);
    return std::make_unique<stream_connection<tcp_socket>>(all, std::move(addresses), std::move(place),
                                                           std::move(socket));
}

}  // namespace herald::runtime::http::server
