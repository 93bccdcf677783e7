// A row of the table of routes: its callers, its limits, and the types of its body and answer. The OpenAPI
// document is made from it.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "api/calls/limits.hpp"
#include "runtime/error.hpp"
#include "runtime/http/limits.hpp"
#include "runtime/http/message.hpp"
#include "schemas/enums.hpp"
#include "schemas/json_schema.hpp"
#include "storage/node/freshness.hpp"

namespace herald::api::calls {

class reading_call;
class writing_call;
class streamed_call;
struct public_call;
using public_handler = result<runtime::http::http_response> (*)(const public_call&);
using read_handler = result<runtime::http::http_response> (*)(reading_call&);
using writing_handler = boost::asio::awaitable<result<runtime::http::http_response>> (*)(writing_call&);
using streamed_handler = boost::asio::awaitable<result<runtime::http::http_response>> (*)(streamed_call&);
using streamed_judge = boost::asio::awaitable<result<void>> (*)(streamed_call&);

/// The rest of an answer that is too large to be in memory as a whole. Owns what it needs: it outlives its
/// call, for as long as the client takes to read.
class answer_pieces {
  public:
    virtual ~answer_pieces() = default;
    /// The next piece, made on one of the threads for long work; empty at the end.
    virtual result<std::string> next() = 0;
    /// Whether the last piece was made.
    virtual bool is_over() const noexcept = 0;
};

/// An answer that is made bit by bit, so that none of the few threads for long work is held for long. Its
/// call outlives it.
class sliced_answer {
  public:
    virtual ~sliced_answer() = default;
    /// Goes on for a slice of time, on one of these threads; empty: there is more to do.
    virtual result<std::optional<runtime::http::http_response>> next() = 0;
    /// The rest of the answer, behind the body that next() returned; null if there is none.
    virtual std::unique_ptr<answer_pieces> rest() { return nullptr; }
};
using slicing_handler = result<std::unique_ptr<sliced_answer>> (*)(reading_call&);

// What a row can be. `answer` is never null in a table.

/// Anybody may ask, without credentials; answered at once, from the process alone.
struct open_row {
    public_handler answer = nullptr;
};
/// Answered from the state at hand, without waiting.
struct read_row {
    read_handler answer = nullptr;
    /// It goes through more rows than an event loop's thread should.
    bool is_long = false;
};
/// The same for any number of rows, in slices. A caller runs one at a time of those that need a second slice.
struct sliced_row {
    slicing_handler answer = nullptr;
};
/// Appends a command, or waits for something else.
struct write_row {
    writing_handler answer = nullptr;
    /// `applied`: the state is needed only to find the caller; apply decides the rest.
    storage::node::freshness state = storage::node::freshness::applied;
};
/// Allowed by a signed URL, which names the user for whom it was made; the body comes and goes in pieces.
struct streamed_row {
    streamed_handler answer = nullptr;
    /// Whether the request may send its body. Called when only the header has arrived.
    streamed_judge judge = nullptr;
};
using row_kind = std::variant<open_row, read_row, sliced_row, write_row, streamed_row>;

/// Which owners of developer keys a route answers (wire.md §2). The rules decide what a caller may do there,
/// and whether they must be a system administrator.
enum class authentication : std::uint8_t {
    developer_key,
    organization_administrator,
    webhook_administrator,  // a system administrator, with --webhooks-by workspace-admins also the
                            // workspace's
    system_administrator
};

struct query_parameter {
    std::string_view name;
    std::string_view meaning;
    bool is_number = false;
    bool is_required = true;               // without it: 400
    schemas::schema_maker type = nullptr;  // of an id
};

/// The right, besides READ, that a caller needs on what the path or body names. Rules and reads refuse
/// callers without it; to a caller without READ the thing does not exist.
struct needed_right {
    schemas::protected_type on;
    schemas::action action;
    schemas::action instead = schemas::action::none;         // another right that is enough,
    std::optional<schemas::protected_type> instead_on = {};  // on another thing
    bool or_reports_scans = false;                           // or a role's mark (schemas/identity.hpp)

    friend bool operator==(const needed_right&, const needed_right&) = default;
};

/// A row of the table. Texts are literals. A pattern is a path whose segments are literal text, `{name}` (one
/// non-empty segment) or, only at the end, `{name...}` (the non-empty rest, slashes included).
struct route {
    /// Unique; the OpenAPI document's operationId.
    std::string_view name;
    runtime::http::http_method method = runtime::http::http_method::get;
    std::string_view pattern;
    row_kind kind;
    authentication who = authentication::developer_key;  // unless the kind asks for none
    std::optional<needed_right> right;                   // empty: only a key is needed, or what `who` says
    std::size_t body_bytes_max = limits::management_body_bytes_max;
    std::int64_t deadline_ms = limits::read_deadline_ms;  // see time_limit; open rows do not wait
    std::span<const query_parameter> query;
    // For the OpenAPI document:
    std::string_view tag;
    std::string_view summary;
    schemas::schema_maker body = nullptr;    // empty: no body
    bool needs_body = false;                 // some member of it is required
    schemas::schema_maker answer = nullptr;  // empty: a text, not JSON
    bool answers_with_bytes = false;         // in place of the text
    bool may_be_503 = false;                 // with the same type of answer
    bool may_be_404_in_text = false;         // as well as in JSON
    /// What clients ask for and Herald does not have: always 403, which they read as "absent".
    bool is_absent = false;
    bool makes_subscriber = false;  // which is sent events from then on

    bool has_body() const noexcept { return body != nullptr; }
    template <class Kind>
    constexpr bool is() const noexcept {
        return std::holds_alternative<Kind>(kind);
    }
    /// Null: it is of another kind.
    template <class Kind>
    constexpr const Kind* as() const noexcept {
        return std::get_if<Kind>(&kind);
    }
    constexpr bool needs_key() const noexcept { return !is<open_row>() && !is<streamed_row>(); }
};

}  // namespace herald::api::calls
