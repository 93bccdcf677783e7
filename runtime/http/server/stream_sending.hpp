// What a connection asks of the body that it streams to a client.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string_view>

#include "runtime/deadline.hpp"
#include "runtime/event_loop.hpp"
#include "runtime/http/body.hpp"
#include "runtime/http/server/connection.hpp"
#include "runtime/http/server/outgoing_answer.hpp"
#include "runtime/http/server/stream_pace.hpp"

namespace herald::runtime::http::server {

/// body_stream::next(); what it throws is an error, internal.
boost::asio::awaitable<result<std::string_view>> next_piece(body_stream&);

/// How long the client may be waited for. The deadline cancels what the socket waits for.
struct sending_bounds {
    event_loop& loop;
    deadline& until;
    stream_pace& pace;
    const connection_limits& limits;
};

/// Lets the answer's stream send by itself what it can at once, and where the socket took nothing, waits
/// until it takes more. Errors: aborted when the client is gone or too slow; else those of the stream.
boost::asio::awaitable<result<std::string_view>> send_past(outgoing_answer&, tcp_socket&, sending_bounds);

}  // namespace herald::runtime::http::server
