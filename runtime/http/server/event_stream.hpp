// Server-sent events: an answer that continues until the client disconnects (WHATWG HTML, "Server-sent
// events").
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/event_loop.hpp"
#include "runtime/http/body.hpp"
#include "runtime/http/limits.hpp"
#include "runtime/http/message.hpp"

namespace herald::runtime::http::server {

struct server_event {
    std::string_view id;     // empty: the client keeps its last id
    std::string_view event;  // the event type; empty: "message"
    std::string_view data;   // any text; each of its lines is sent as one
};

struct event_stream_options {
    std::int64_t heartbeat_ms = limits::event_heartbeat_ms;  // without an event; reveals a dead client
    std::size_t waiting_bytes_max = limits::events_waiting_bytes_max;
};

/// Created by a handler, which puts it into its answer (answer_of()) and gives others a weak_ptr to it: it is
/// destroyed with the connection. Lives on the loop of the request (request::loop_index); all calls come from
/// that loop's thread.
class event_stream final : public body_stream {
  public:
    explicit event_stream(runtime::event_loop&, const event_stream_options& = {});

    /// Never waits. Returns false, and the stream ends, when the client has more than waiting_bytes_max
    /// unread; false after the end. Line breaks in id and event become spaces.
    bool send(const server_event&);
    /// Events sent before are still delivered.
    void end();

    boost::asio::awaitable<result<std::string_view>> next() override;
    void wind_down() override { end(); }

  private:
    const event_stream_options x_options;
    boost::asio::steady_timer x_bell;
    std::string x_waiting;
    std::string x_piece;
    bool x_has_ended = false;
};

http_response answer_of(std::shared_ptr<event_stream>);

}  // namespace herald::runtime::http::server
