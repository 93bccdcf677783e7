// An exchange as a chain of steps, each the callback of the previous one: resolve, connect, secure, send and
// receive.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/http/client/client.hpp"
#include "runtime/http/client/connection.hpp"
#include "runtime/http/client/connection_pool.hpp"
#include "runtime/http/client/open_connections.hpp"
#include "runtime/http/client/tls.hpp"
#include "runtime/http/limits.hpp"

namespace herald::runtime::http::client {

/// What all exchanges of a client share.
struct client_parts {
    client_parts(boost::asio::io_context& its_io, client_options given)
        : io(its_io),
          options(std::move(given)),
          tls(make_client_tls(options)),
          sessions(limits::client_tls_sessions_max),
          pool(std::make_shared<connection_pool>(io, options.idle_connections_max, options.idle_ms_max)),
          names(make_resolver(io, options.dns)),
          open(std::make_shared<open_connections>()) {}

    boost::asio::io_context& io;
    client_options options;
    boost::asio::ssl::context tls;
    tls_sessions sessions;
    std::shared_ptr<connection_pool> pool;
    std::unique_ptr<resolver> names;
    std::shared_ptr<open_connections> open;
};

/// An exchange from start to end; keeps itself alive while a step is running. In every case the caller is
/// told once: in finish(), or in head_came() if the body of the answer is then read piece by piece. One timer
/// serves the deadline and the shorter limits of the steps. On the client's thread.
class running_exchange : public std::enable_shared_from_this<running_exchange> {
  public:
    running_exchange(std::shared_ptr<client_parts> parts, request asked, client::callback callback)
        : x_shared(std::move(parts)),
          x_request(std::move(asked)),
          x_callback(std::move(callback)),
          x_started(std::chrono::steady_clock::now()),
          x_deadline(x_started + std::chrono::milliseconds(x_request.deadline_ms)),
          x_timer(x_shared->io),
          x_permit(x_request.body_pieces && x_request.asks_before_body ? body_permit::to_be_asked
                                                                       : body_permit::given) {}

    void start();
    void cancel();
    bool on_the_wire() const noexcept { return x_on_the_wire; }
    void read(piece_callback);

  private:
    /// Permission to send body_pieces.
    enum class body_permit : std::uint8_t { given, to_be_asked, awaited };

    void resolve();
    void take_addresses(std::vector<ip_address>);
    void connect_first();
    bool makes_room();
    void connect_next();
    void try_next_address(const std::string& why_not);
    void connected();
    void resolve_proxy();
    void ask_proxy();
    void proxy_answered(boost::system::error_code, std::string_view);
    void tunnel_stands();
    void secured(boost::system::error_code);
    void send_request();
    void sent(boost::system::error_code);
    void received(boost::system::error_code, std::string_view);
    void complete();
    bool is_streamed() const;
    void head_came();
    void broke_off(boost::system::error_code);
    void wait_to_continue();
    void send_body();
    void ask_for_piece();
    void send_piece(result<std::string_view>);
    void end_of_pieces();
    void receive_later();
    void last_chunk_sent(boost::system::error_code);
    void hand_out() { hand_out_piece(); }
    bool hand_out_piece();
    void piece_timed_out();
    bool may_send_again(boost::system::error_code how_it_ended) const;
    void send_again_on_new_connection();

    void limit(std::chrono::steady_clock::time_point, void (running_exchange::*on_limit)());
    void limit_by_deadline() { limit(x_deadline, &running_exchange::timed_out); }
    bool looks_again(void (running_exchange::*on_limit)());
    void timed_out();
    void connect_timed_out();
    void fail(failure, std::string message);
    void finish();

    /// Drops a step's callbacks when the attempt has ended or has moved on without them.
    template <class... arguments>
    auto step(void (running_exchange::*next)(arguments...)) {
        return [self = shared_from_this(), next, turn = x_turn](arguments... values) {
            if (turn == self->x_turn) ((*self).*next)(std::forward<arguments>(values)...);
        };
    }

    std::shared_ptr<client_parts> x_shared;
    request x_request;
    client::callback x_callback;
    piece_callback x_read;  // set while the caller waits for a piece of the answer's body
    answer x_answer;
    std::chrono::steady_clock::time_point x_started;
    std::chrono::steady_clock::time_point x_deadline;
    std::chrono::steady_clock::time_point x_phase_started;
    const char* x_phase = "starting";
    boost::asio::steady_timer x_timer;
    std::uint64_t x_turn = 0;  // increased to drop the callbacks of earlier steps

    location x_location;
    std::string x_place_key;  // scheme, host and port
    std::string x_pool_key;   // ends with that
    std::unique_ptr<lookup> x_lookup;
    std::vector<ip_address> x_addresses;
    std::size_t x_next_address = 0;
    std::string x_connect_errors;
    std::optional<ip_address> x_proxy_address;
    std::string x_proxy_answer;
    std::shared_ptr<connection> x_connection;
    ip_address x_address;
    bool x_reused = false;
    bool x_on_the_wire = false;

    std::unique_ptr<answer_parser> x_parser;
    body_permit x_permit;
    bool x_is_sent = false;
    bool x_looked_again = false;  // past a limit
    boost::system::error_code x_send_error;
    bool x_got_bytes = false;
    std::uint64_t x_piece_bytes = 0;  // of body_pieces so far
    bool x_is_streaming = false;      // the head was handed out: from now on read() drives the reading
    bool x_is_complete = false;       // the answer is complete
    std::string x_piece;
};

}  // namespace herald::runtime::http::client
