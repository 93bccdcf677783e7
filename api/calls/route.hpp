// A row of the table of routes: what it answers, to whom, at what cost, and the types of body and answer,
// from which the OpenAPI document follows.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "api/calls/limits.hpp"
#include "runtime/error.hpp"
#include "runtime/http/limits.hpp"
#include "runtime/http/message.hpp"
#include "schemas/enums.hpp"
#include "schemas/json_schema.hpp"

namespace herald::api::calls {

class reading_call;
class writing_call;
struct public_call;
/// For requests that anybody may make.
using public_handler = runtime::http::http_response (*)(const public_call&);
using route_handler = boost::asio::awaitable<result<runtime::http::http_response>> (*)(writing_call&);
/// For answers made from the state at hand, without waiting.
using read_handler = result<runtime::http::http_response> (*)(reading_call&);

/// Whom a route answers at all (wire.md §2); the rules decide what a caller may do there, also that he must
/// be a system administrator.
enum class authentication : std::uint8_t { nobody, developer_key, system_administrator };

/// long_read goes through many rows: it does not run on an event loop's thread, and only one at a time for
/// each caller.
enum class cost : std::uint8_t { quick, long_read };

/// The state that a call needs. `applied`: only to know who asks; apply decides the rest.
enum class needed_state : std::uint8_t { applied, newest };

struct query_parameter {
    std::string_view name;
    std::string_view meaning;
    bool is_number = false;
    bool is_required = true;  // without it: 400
};

/// What a caller needs on the thing that the path or body names, in addition to READ. Rules and reads refuse
/// callers without it; without READ, the thing appears not to exist.
struct needed_right {
    schemas::protected_type on;
    schemas::action action;
};

/// A row of the table. Texts are literals. A pattern is a path whose segments are literal text, `{name}` (one
/// non-empty segment) or, only at the end, `{name...}` (the non-empty rest, slashes included).
struct route {
    /// Unique; the OpenAPI document's operationId.
    std::string_view name;
    runtime::http::http_method method = runtime::http::http_method::get;
    std::string_view pattern;
    // Exactly one of these three:
    route_handler handler = nullptr;
    read_handler read = nullptr;
    public_handler open = nullptr;
    needed_state state = needed_state::newest;
    calls::cost cost = calls::cost::quick;
    authentication who = authentication::developer_key;
    std::optional<needed_right> right;  // empty: only a key is needed, or what `who` says
    std::size_t body_bytes_max = limits::management_body_bytes_max;
    std::int64_t deadline_ms = limits::read_deadline_ms;  // see time_limit; open rows do not wait
    std::span<const query_parameter> query;
    // For the OpenAPI document:
    std::string_view tag;
    std::string_view summary;
    schemas::schema_maker body = nullptr;    // empty: no body
    bool needs_body = false;                 // some member of it is required
    schemas::schema_maker answer = nullptr;  // empty: a text that is not JSON
    bool may_be_503 = false;                 // with the same type of answer

    bool has_body() const noexcept { return body != nullptr; }
};

}  // namespace herald::api::calls
