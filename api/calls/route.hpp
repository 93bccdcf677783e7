// A row of the table of routes: what it answers, for whom, and what the OpenAPI document says of it.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <string_view>

#include "runtime/error.hpp"
#include "runtime/http/message.hpp"

namespace herald::api::calls {

class call;
using route_handler = boost::asio::awaitable<result<runtime::http::http_response>> (*)(call&);
/// For answers that are made from the state at hand, without waiting.
using read_handler = result<runtime::http::http_response> (*)(call&);

/// Whom a route answers (wire.md §2).
enum class authentication : std::uint8_t {
    none,
    developer_key,
    system_administrator,
    access_token,
    signed_url
};

/// A row of the table. Texts are literals. A pattern is a path whose segments are literal text, `{name}` (one
/// segment, not empty) or, at the end only, `{name...}` (all that is left, slashes included, not empty).
struct route {
    runtime::http::http_method method = runtime::http::http_method::get;
    std::string_view pattern;
    route_handler handler = nullptr;  // this one or `read`, not both
    read_handler read = nullptr;
    bool asks_first = false;  // `handler` reads the state, too: it needs the newest (a write needs no more
                              // than to know who asks, and apply decides on the rest)
    bool scans = false;       // `read` goes through many rows: not on an event loop's thread
    authentication who = authentication::developer_key;
    // For the OpenAPI document:
    std::string_view tag;
    std::string_view summary;
    std::string_view request_schema;  // name of a type in schemas/; empty: no body
    std::string_view response_schema;
};

}  // namespace herald::api::calls
