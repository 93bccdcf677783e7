// One HTTP request as the server hands it on. All views point into the connection's buffer.
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

/// Valid until the handler has ended. Not copied by the server; whoever needs a part longer copies that part.
struct request {
    http_method method = http_method::get;
    std::string_view target;  // as sent: path and query; of a whole URL only these
    std::string_view path;    // what stands before the first `?`, still percent-encoded; "*" of OPTIONS *
    std::string_view query;   // what stands after it; empty without one
    std::span<const header_view> headers;
    std::string_view body;            // empty where `stream` is set
    body_stream* stream = nullptr;    // see request_handler::streams_body(); ends with the handler
    std::string_view remote_address;  // "192.0.2.7", "2001:db8::7"
    std::string_view request_id;      // the caller's, or a UUID
    std::size_t loop_index = 0;       // runs on this loop of event_loops
    /// For the handler to set once the caller is authenticated: a connection without such a caller may be
    /// closed to make room for others. Null where nobody wants to know.
    std::atomic<bool>* is_known = nullptr;

    /// The value of the first field of this name, in any case; nothing when there is none.
    std::optional<std::string_view> header(std::string_view name) const noexcept;
};

}  // namespace herald::runtime::http::server
