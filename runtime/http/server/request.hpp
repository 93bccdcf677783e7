// One HTTP request in the form that the server passes on. All views point into the connection's buffer.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "runtime/http/body.hpp"
#include "runtime/http/message.hpp"

namespace herald::runtime::http::server {

struct header_view {
    std::string_view name;  // as the client wrote it
    std::string_view value;
};

class byte_budget;

/// The other side of a connection: the client that sent the request.
class peer {
  public:
    virtual ~peer() = default;
    /// Whether it has closed its side of the connection. Costs a system call. On the request's loop.
    virtual bool has_left() const noexcept = 0;
};

/// Valid until the handler has ended. The server makes no copy: copy what is needed for longer.
struct request {
    http_method method = http_method::get;
    std::string_view target;  // as sent: path and query; for a full URL only these parts
    std::string_view path;    // the part before the first `?`, still percent-encoded; "*" for OPTIONS *
    std::string_view query;   // the part after it; empty if there is none
    std::span<const header_view> headers;
    std::string_view body;            // empty if `stream` is set
    body_stream* stream = nullptr;    // see plan::streams_body; destroyed with the handler
    std::string_view remote_address;  // "192.0.2.7", "2001:db8::7"
    std::string_view local_address;   // to which it was sent, with the port: "[2001:db8::1]:8080"
    std::string_view request_id;      // the caller's, or a new UUID
    std::size_t loop_index = 0;       // the request runs on this loop of event_loops
    /// The handler sets this once the caller is authenticated: other connections may be closed to make room.
    /// Null when nobody needs to know.
    std::atomic<bool>* is_known = nullptr;
    const peer* from = nullptr;  // null when nobody can leave
    /// In which the body counts until the answer; for what the handler makes of it, too. Null: unbounded.
    byte_budget* room = nullptr;

    /// The value of the first field of this name, in any case; empty when there is none.
    std::optional<std::string_view> header(std::string_view name) const noexcept;
};

}  // namespace herald::runtime::http::server
