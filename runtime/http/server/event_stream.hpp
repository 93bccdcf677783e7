// Server-sent events: an answer that goes on until the client has had enough (WHATWG HTML, "Server-sent
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
    std::string_view id;     // empty: the client's last id stays
    std::string_view event;  // the type; empty: "message"
    std::string_view data;   // any text; its lines are sent as lines
};

struct event_stream_options {
    std::int64_t heartbeat_ms =
        limits::event_heartbeat_ms;  // without an event, so that a dead client is noticed
    std::size_t waiting_bytes_max = limits::events_waiting_bytes_max;
};

/// Made by a handler, which puts it into its answer (answer_of()) and tells others of it by a weak_ptr: it is
/// gone when the connection is. Lives on the loop of the request (request::loop_index), whose thread calls
/// everything.
class event_stream final : public body_stream {
  public:
    explicit event_stream(runtime::event_loop&, const event_stream_options& = {});

    /// Never waits. False, and the stream ends, when the client leaves more than waiting_bytes_max unread;
    /// false after the end. Line breaks in id and event become spaces.
    bool send(const server_event&);
    /// What was sent before still goes out.
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
