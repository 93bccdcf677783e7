// One connection, in clear or over TLS; connection.cpp has its steps and makes both.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "runtime/deadline.hpp"
#include "runtime/http/body.hpp"
#include "runtime/http/server/connection.hpp"
#include "runtime/http/server/error_response.hpp"
#include "runtime/http/server/incoming_pace.hpp"
#include "runtime/http/server/outgoing_answer.hpp"
#include "runtime/http/server/parser.hpp"
#include "runtime/http/server/request_id.hpp"
#include "runtime/http/server/request_room.hpp"
#include "runtime/http/server/stream_pace.hpp"
#include "runtime/http/server/stream_sending.hpp"

namespace herald::runtime::http::server {

namespace asio = boost::asio;
using tls_stream = asio::ssl::stream<tcp_socket>;

template <class Stream>
class stream_connection final : public connection {
    /// The body of a request, for its handler.
    class incoming_body final : public body_stream {
      public:
        explicit incoming_body(stream_connection& of) : x_of(of) {}
        asio::awaitable<result<std::string_view>> next() override { return x_of.next_incoming(); }

      private:
        stream_connection& x_of;
    };

  public:
    template <class... Arguments>
    stream_connection(connections_of_loop& all, addresses_of_connection addresses, place_of_connection place,
                      Arguments&&... stream)
        : connection(all),
          x_bounds(all.options.bounds),
          x_addresses(std::move(addresses)),
          x_stream(std::forward<Arguments>(stream)...),
          x_place(std::move(place)),
          x_deadline(all.loop, [this] { time_out(); }) {}

    asio::awaitable<void> run() override;
    void wind_down() override;

  private:
    static constexpr bool is_tls = std::is_same_v<Stream, tls_stream>;

    tcp_socket& socket() noexcept;
    void time_out();
    bool is_stopped() const noexcept { return x_stop.cancelled() != asio::cancellation_type::none; }
    asio::awaitable<void> shake_hands();
    void expect_bytes();
    bool has_room_for_body() { return !x_parser.has_head() || x_room.hold_unfinished(x_parser.held_bytes()); }
    void came(bool failed, std::size_t bytes);
    void begin() noexcept;
    asio::awaitable<void> judge();
    bool is_too_large() const noexcept;
    void ask_for_body() {
        if (!x_closes && x_parser.expects_continue()) x_out.write_continue();
    }
    asio::awaitable<void> serve_streamed();
    asio::awaitable<result<std::string_view>> next_incoming();
    void identify();
    void refuse(const error&);
    /// What the server itself says, in the handler's form if the head says which one that is.
    http_response refusal(const error& why) {
        if (!x_parser.has_head()) return error_response(why);
        begin();
        return x_handler->refusal(x_parser.get(), x_plan, why);
    }
    bool answer_now();
    asio::awaitable<void> answer_later();
    void handler_threw(const char* what);
    bool has_room_for_answer(std::size_t bytes) {
        return bytes <= outgoing_answer::body_bytes_copied_max ||
               x_room.hold_answer(bytes, x_place->is_known);
    }
    void write_answer();
    bool replace_refused();
    void write_head();
    bool send_now();
    asio::awaitable<void> send_rest();
    bool sent(bool failed, std::size_t bytes);
    /// A body that comes when it comes (events) may be slow.
    bool has_floor() const noexcept { return x_is_mid_stream && x_out.get().stream_bytes; }
    asio::awaitable<void> send_stream();
    void cut_off();
    void answered();
    asio::awaitable<void> linger();

    const connection_limits& x_bounds;
    const addresses_of_connection x_addresses;
    Stream x_stream;
    const place_of_connection x_place;  // destroyed before x_stream
    runtime::deadline x_deadline;
    asio::cancellation_state x_stop;  // of run(): set when the server stops, which is not a handler's failure
    request_parser x_parser;
    request_room x_room{x_all.room};
    request_handler* x_handler = nullptr;  // of this request; null: it has not begun
    plan x_plan;                           // of that handler
    bool x_is_judged = false;   // whether the awaited body is wanted is known; it is, unless x_closes
    bool x_is_open = true;      // requests are being read
    bool x_is_broken = false;   // nothing more can be sent
    bool x_is_late = false;     // x_deadline has passed
    bool x_is_waiting = false;  // for bytes
    std::uint32_t x_requests = 0;
    incoming_pace x_pace{x_bounds};
    stream_pace x_stream_pace{x_bounds};  // of the body that is received, then of the one that is sent
    std::int64_t x_started_us = 0;        // when the first bytes of the request arrived
    request_id x_id;
    outgoing_answer x_out;
    std::shared_ptr<const send_guard> x_guard;  // of that answer
    bool x_is_guarded = false;                  // no byte of it has gone out, and the guard has not spoken
    bool x_closes = false;                      // after this answer
    incoming_body x_incoming{*this};
    const socket_peer x_peer{socket(), x_all.is_draining};
    bool x_has_incoming_end = false;  // the handler has read the request's body to its end
    bool x_is_mid_stream = false;     // between its first piece and its end
    bool x_has_failed_mid_stream = false;
};

}  // namespace herald::runtime::http::server
