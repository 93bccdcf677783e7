// One request on its way through a handler: who sent it, what it contains, and the registry to answer from.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "api/calls/router.hpp"
#include "api/calls/services.hpp"
#include "api/calls/time_limit.hpp"
#include "runtime/crypto.hpp"
#include "runtime/http/message.hpp"
#include "runtime/http/server/request.hpp"
#include "schemas/answers/answer.hpp"
#include "schemas/binary.hpp"
#include "schemas/commands/envelope.hpp"
#include "schemas/identity.hpp"
#include "schemas/json_codec.hpp"
#include "schemas/requests/request.hpp"

namespace herald::api::calls {

template <class T = void>
using task = boost::asio::awaitable<result<T>>;

/// Who sent the request: an existing user, and the hash of the key used (wire.md §2).
struct caller {
    std::shared_ptr<const schemas::user> user;
    std::string credential_hash;
};

/// A caller, and the state to answer from.
struct admission {
    storage::node::registry_node::reading state;
    caller who;
};

/// A member of the body that has no effect, and the text about it: "is …".
struct ignored_member {
    std::string path;
    std::string why;
};
std::vector<ignored_member> ignored_of(const std::vector<schemas::unknown_member>&);
/// invalid_argument naming the members, of a request that is always strict.
error refusal_of_unknown(const std::vector<ignored_member>&);

/// A call that only reads, and answers from a state. Lives for one request, on one event loop or a blocking
/// thread. Views of the request stay valid until the handler ends.
class reading_call {
  public:
    reading_call(const runtime::http::server::request& received, const route_match& match,
                 const services& with, admission admitted)
        : x_request(received), x_match(match), x_services(with), x_admission(std::move(admitted)) {}

    const runtime::http::server::request& received() const noexcept { return x_request; }
    const services& with() const noexcept { return x_services; }
    /// Those of the area that the handler belongs to.
    template <class ServicesOfArea>
    const ServicesOfArea& of() const noexcept {
        return *std::get<const ServicesOfArea*>(x_services.of_areas);
    }

    // ---- what came
    /// The decoded path segment; "" when the route has no parameter of that name.
    std::string path(std::string_view name) const { return std::string(path_segment(name)); }
    /// Whether the matched route has this parameter: some handlers serve several forms of a path.
    bool has_path(std::string_view name) const { return !path_segment(name).empty(); }
    /// A path segment that must be a number. Errors: not_found, as for any unknown id.
    template <schemas::numeric_id Id>
    result<Id> path_id(std::string_view name) const {
        const auto number = path_number(name);
        if (!number) return number.error();
        return Id{*number};
    }
    /// The decoded query parameter; empty when there is none of that name.
    std::optional<std::string> find_query(std::string_view name) const;
    /// As find_query, or "".
    std::string query(std::string_view name) const { return find_query(name).value_or(""); }
    /// Errors: invalid_argument when it is missing or not a number.
    result<std::uint64_t> query_number(std::string_view name) const;
    /// The body as JSON; an empty body is `{}`. Errors: invalid_argument when it is not a JSON object.
    result<schemas::json_value> json() const;
    /// The body as a JSON string. Errors: invalid_argument when it is not a JSON string.
    result<std::string> text() const;
    template <schemas::described T>
    result<T> body() {
        const auto value = json();
        if (!value) return value.error();
        return body_as<T>(*value);
    }
    /// Unknown members are ignored and reported. Errors: invalid_argument naming a member that is wrong or
    /// missing.
    template <schemas::described T>
    result<T> body_as(const schemas::json_value& value) {
        constexpr bool refuses = schemas::requests::refuses_unknown<T>;
        schemas::unknown_members unknown{
            refuses ? schemas::unknown_told::all : schemas::unknown_told::not_at_default, {}};
        auto out = schemas::from_json<T>(value, &unknown);
        if (!out) return out;
        if (const auto good = schemas::requests::check_required(*out); !good) return good.error();
        if (refuses && !unknown.found.empty()) return refusal_of_unknown(ignored_of(unknown.found));
        if (const auto good = ignore(ignored_of(unknown.found)); !good) return good.error();
        return out;
    }
    /// Members that the server owns, if the body sets them differently from `kept` (the record as it is or
    /// will be), are also ignored and reported.
    template <schemas::described Request, schemas::described Kept>
    result<void> ignore_owned(const schemas::json_value& body, const Kept& kept) {
        const auto owned = schemas::requests::server_owned_of<Request>();
        const auto sent = schemas::requests::server_owned_in(body, owned);
        std::vector<ignored_member> ignored;
        for (const std::string_view name : schemas::requests::differing(sent, kept))
            for (const schemas::requests::owned& each : owned)
                if (each.name == name) ignored.push_back({std::string(name), std::string(each.why)});
        return ignore(ignored);
    }
    /// Whether the caller wants ignored members refused: Prefer: handling=strict (RFC 7240).
    bool is_strict() const;
    /// Where the caller found this node: "https://host[:port]". The operator's choice comes first, then the
    /// request's Host, then the address that the request was sent to.
    std::string base_url() const;
    /// For a strict caller: invalid_argument naming the members. For others, the answer's svc-warning names
    /// them.
    result<void> ignore(const std::vector<ignored_member>&);
    /// The answer's svc-warning says it, too. Visible ASCII and spaces.
    void warn(std::string text) { x_warnings.push_back(std::move(text)); }

    // ---- the state to answer from, and the caller
    const storage::registry::state::state_view& state() const noexcept { return *x_admission.state.view; }
    const storage::node::registry_node::reading& reading() const noexcept { return x_admission.state; }
    const schemas::user& user() const noexcept { return *x_admission.who.user; }

    // ---- the answer
    /// An answer that reflects the state: carries svc-registry-offset, and svc-registry-stale and svc-warning
    /// where they apply.
    runtime::http::http_response answer(std::string body) const;
    template <schemas::described Answer>
    runtime::http::http_response answer(const Answer& value) const {
        return answer(schemas::answers::text_of(value));
    }

  protected:
    const caller& who() const noexcept { return x_admission.who; }
    runtime::http::http_response answer_at(std::uint64_t offset, std::string body) const;

  private:
    /// The body, which is JSON of some kind.
    result<schemas::json_value> parsed() const;
    std::string_view path_segment(std::string_view name) const noexcept {
        return x_match.parameter(name, x_request.path);
    }
    result<std::uint64_t> path_number(std::string_view name) const;

    const runtime::http::server::request& x_request;
    const route_match& x_match;
    const services& x_services;
    const admission x_admission;
    std::vector<std::string> x_warnings;
};

/// A call that also changes or sends something. It waits, so it stays on its event loop.
class writing_call : public reading_call {
  public:
    using reading_call::answer;

    writing_call(const runtime::http::server::request& received, const route_match& match,
                 const services& with, admission admitted, const time_limit& limit)
        : reading_call(received, match, with, std::move(admitted)), x_limit(limit) {}

    /// Whether the state has the outcome of an earlier request with this one's Idempotency-Key. Then nothing
    /// is left to refuse here: submit() returns that outcome, or says that the requests differ.
    bool is_decided(const storage::registry::state::state_view&) const;

    /// Whether a repeat of the request is recognised.
    bool has_key() const { return received().header("idempotency-key").has_value(); }
    /// For everything that its handler waits for.
    const time_limit& limit() const noexcept { return x_limit; }
    /// Whether the request sent a command to the log. The audit has what became of it.
    bool has_sent() const noexcept { return x_has_sent; }

    /// Appends the command and waits until this node has applied it. The value is what apply decided;
    /// refusals are errors. When the time is over, the error says that the outcome is unknown: callers repeat
    /// a 504 by themselves, and the command may have taken effect.
    template <schemas::commands::command_struct Command>
    task<schemas::commands::outcome> submit(Command command) {
        return append(Command::type, schemas::encode(command), with().random.uuid());
    }
    /// Submits, and answers with the given value.
    template <schemas::commands::command_struct Command, schemas::described Answer>
    task<runtime::http::http_response> write(Command command, Answer said) {
        const auto outcome = co_await submit(std::move(command));
        if (!outcome) co_return outcome.error();
        co_return answer(*outcome, said);
    }
    /// Submits, and answers with what `view` makes from the row that apply returned.
    template <schemas::described Row, schemas::commands::command_struct Command, class View>
    task<runtime::http::http_response> write(Command command, View view) {
        const auto outcome = co_await submit(std::move(command));
        if (!outcome) co_return outcome.error();
        auto row = schemas::decode<Row>(outcome->body);
        if (!row) co_return row.error();
        co_return answer(*outcome, view(*std::move(row)));
    }
    /// The same for a command with `key_name` and `key_hash`: the hash is that of the secret HMAC(key ring
    /// key, command id ‖ purpose). `view` takes the secret, too, which a repeat answers again (design.md §1).
    template <schemas::described Row, schemas::commands::command_struct Command, class View>
    task<runtime::http::http_response> write_minting(Command command, std::string_view purpose, View view) {
        const schemas::uuid command_id = with().random.uuid();
        command.key_name = with().keys.current_name();
        const auto fresh = mint(command.key_name, command_id, purpose);
        if (!fresh) co_return fresh.error();
        command.key_hash = runtime::as_bytes(runtime::sha256(*fresh));
        const auto outcome = co_await append(Command::type, schemas::encode(command), command_id);
        if (!outcome) co_return outcome.error();
        auto row = schemas::decode<Row>(outcome->body);
        if (!row) co_return row.error();
        const auto secret = mint(outcome->key_name, outcome->command_id, purpose);
        if (!secret) co_return secret.error();
        co_return answer(*outcome, view(*std::move(row), *secret));
    }

    /// The answer to a write that was applied at the outcome's offset.
    runtime::http::http_response answer(const schemas::commands::outcome&, std::string body) const;
    template <schemas::described Answer>
    runtime::http::http_response answer(const schemas::commands::outcome& outcome,
                                        const Answer& value) const {
        return answer(outcome, schemas::answers::text_of(value));
    }

  private:
    result<schemas::commands::request_identity> identity() const;
    task<schemas::commands::outcome> append(schemas::commands::command_type, std::string body,
                                            schemas::uuid command_id);
    result<std::string> mint(std::string_view key_name, const schemas::uuid& command_id,
                             std::string_view purpose) const;

    const time_limit& x_limit;
    bool x_has_sent = false;
};

/// The decoded parameter of a query; empty when there is none of that name.
std::optional<std::string> find_in_query(std::string_view query, std::string_view name);

/// The value of svc-registry-offset.
std::string offset_text(std::uint32_t generation, std::uint64_t offset);
/// svc-registry-offset: the state from which an answer or a refusal was made.
runtime::http::header offset_header(const storage::node::registry_node::reading&);

struct command_to_append {
    schemas::commands::command_type type{};
    std::string body;
    schemas::commands::request_identity who;
    schemas::uuid command_id{};  // none: a random one
};
/// Appends the command and waits until this node has applied it; as writing_call::submit.
task<schemas::commands::outcome> append_command(const services&, const time_limit&, command_to_append);

/// The state to read from. Errors: unavailable when the node does not serve; that of a limit that passed.
task<storage::node::registry_node::reading> read_state(storage::node::registry_node&, const time_limit&);

/// Finds the user by the e-mail and developer key in the request (wire.md §2). Errors: unauthenticated, also
/// when either is present twice: a proxy that checks requests may have read the other one.
result<caller> authenticate(const runtime::http::server::request&,
                            const storage::registry::state::state_view&);

/// Errors: invalid_argument (415) for a body in another Content-Encoding than identity.
result<void> check_coding(const runtime::http::server::request&);

/// Errors: invalid_argument for a query parameter that the route requires and the request lacks.
result<void> check_query(const route&, const runtime::http::server::request&);

}  // namespace herald::api::calls
