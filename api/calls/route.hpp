// A row of the table of routes: what it answers, to whom, at what cost, and the types of body and answer,
// from which the OpenAPI document follows.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
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
class streamed_call;
struct public_call;
/// For requests that anybody may make.
using public_handler = result<runtime::http::http_response> (*)(const public_call&);
using route_handler = boost::asio::awaitable<result<runtime::http::http_response>> (*)(writing_call&);
/// For requests that their URL allows, with bodies in pieces.
using streamed_handler = boost::asio::awaitable<result<runtime::http::http_response>> (*)(streamed_call&);
/// Whether the request may send its body: asked when only its header has arrived.
using streamed_judge = boost::asio::awaitable<result<void>> (*)(streamed_call&);
/// For answers made from the state at hand, without waiting.
using read_handler = result<runtime::http::http_response> (*)(reading_call&);

/// The rest of an answer that is too large to be in memory as a whole. Owns what it needs: it outlives its
/// call, for as long as the client takes to read.
class answer_pieces {
  public:
    virtual ~answer_pieces() = default;
    /// The next piece, made on one of the threads for long work; empty at the end.
    virtual result<std::string> next() = 0;
};

/// An answer that is made bit by bit, so that none of the few threads for long work is held for long. Its
/// call outlives it.
class sliced_answer {
  public:
    virtual ~sliced_answer() = default;
    /// Goes on for a slice of time, on one of these threads; empty: there is more to do.
    virtual result<std::optional<runtime::http::http_response>> next() = 0;
    /// What comes behind the body that next() answered; null: nothing does.
    virtual std::unique_ptr<answer_pieces> rest() { return nullptr; }
};
/// For answers from many rows of the state at hand.
using slicing_handler = result<std::unique_ptr<sliced_answer>> (*)(reading_call&);

/// Whom a route answers at all (wire.md §2); the rules decide what a caller may do there, also that he must
/// be a system administrator. A signed URL names the user for whom it was made.
enum class authentication : std::uint8_t {
    nobody,
    developer_key,
    organization_administrator,
    system_administrator,
    signed_url
};

/// long_read goes through more rows than an event loop's thread should. What may be very many is made in
/// slices; of those that need more than the first slice, one at a time runs for each caller.
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
    schemas::action instead = schemas::action::none;  // another that will do as well
};

/// A row of the table. Texts are literals. A pattern is a path whose segments are literal text, `{name}` (one
/// non-empty segment) or, only at the end, `{name...}` (the non-empty rest, slashes included).
struct route {
    /// Unique; the OpenAPI document's operationId.
    std::string_view name;
    runtime::http::http_method method = runtime::http::http_method::get;
    std::string_view pattern;
    // Exactly one of these four:
    route_handler handler = nullptr;
    read_handler read = nullptr;
    slicing_handler slices = nullptr;
    public_handler open = nullptr;
    streamed_handler streamed = nullptr;
    streamed_judge judge = nullptr;  // with `streamed`
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
    schemas::schema_maker answer = nullptr;  // empty: no JSON, but a text
    bool answers_with_bytes = false;         // in place of the text
    bool may_be_503 = false;                 // with the same type of answer
    bool may_be_404_in_text = false;         // as well as in JSON
    /// What clients ask for and Herald does not have: always 403, which they read as "absent".
    bool is_absent = false;

    bool has_body() const noexcept { return body != nullptr; }
};

}  // namespace herald::api::calls
