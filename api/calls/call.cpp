#include "api/calls/call.hpp"

#include <algorithm>

#include "api/calls/await_callback.hpp"
#include "api/calls/limits.hpp"
#include "api/calls/session_cookie.hpp"
#include "runtime/text.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/artifacts.hpp"
#include "storage/registry/find/directory.hpp"
#include "storage/registry/find/records.hpp"

namespace herald::api::calls {
namespace {

using runtime::http::server::header_view;
using runtime::http::server::request;

/// application/x-www-form-urlencoded: `+` is a space. Bytes that are not a valid escape stay as they are.
std::string decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (const auto escaped = runtime::percent_escape(text.substr(i))) {
            out += *escaped;
            i += 2;
        } else {
            out += text[i] == '+' ? ' ' : text[i];
        }
    }
    return out;
}

std::string joined(const std::vector<std::string>& texts) {
    std::string out;
    for (const std::string& text : texts) out += (out.empty() ? "" : "; ") + text;
    return out;
}

/// In visible ASCII, at most limits::warning_name_bytes_max bytes.
std::string shown(std::string_view name) {
    const auto is_kept = [](char c) { return runtime::is_unreserved(c) || c == '[' || c == ']'; };
    std::string out;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const std::string next = runtime::percent_encoded(name.substr(i, 1), is_kept);
        if (out.size() + next.size() > limits::warning_name_bytes_max) break;
        out += next;
    }
    return out;
}

/// Whether a Prefer field (a list of preferences, possibly with parameters) asks for strict handling.
bool prefers_strict(std::string_view field) {
    while (!field.empty()) {
        const std::string_view one = field.substr(0, field.find(','));
        field.remove_prefix(std::min(one.size() + 1, field.size()));
        const std::string_view preference = runtime::trimmed(one.substr(0, one.find(';')));
        if (runtime::equals_ignoring_case(preference, "handling=strict") ||
            runtime::equals_ignoring_case(preference, "handling=\"strict\""))
            return true;
    }
    return false;
}

bool is_visible_ascii(std::string_view text) {
    for (const char c : text)
        if (c < 0x21 || c > 0x7E) return false;
    return true;
}

struct credentials {
    std::string email, key;
};

/// The ids that requests may give themselves.
struct credential_fields {
    std::optional<std::string_view> email, key, dashed_key, basic, token;

    std::optional<std::string_view>* of(std::string_view name) {
        if (runtime::equals_ignoring_case(name, "grpc-metadata-email")) return &email;
        if (runtime::equals_ignoring_case(name, "grpc-metadata-developer_key")) return &key;
        if (runtime::equals_ignoring_case(name, "grpc-metadata-developer-key")) return &dashed_key;
        if (runtime::equals_ignoring_case(name, "authorization")) return &basic;
        return nullptr;
    }
};

bool is_of_a_token(std::string_view name) {
    return runtime::equals_ignoring_case(name, "grpc-metadata-bearer_access_token") ||
           runtime::equals_ignoring_case(name, "grpc-metadata-bearer-access-token");
}

/// RFC 7617: the e-mail ends at the first colon. No e-mail that Herald accepts needs one.
result<credentials> basic_credentials(std::string_view field) {
    const std::size_t space = std::min(field.find(' '), field.size());
    const error wrong = runtime::unauthenticated(
        "unsupported Authorization header; send Basic with e-mail and developer key, or the "
        "headers Grpc-Metadata-email and Grpc-Metadata-developer_key");
    if (!runtime::equals_ignoring_case(field.substr(0, space), "basic")) return wrong;
    const auto pair = runtime::from_base64(runtime::trimmed(field.substr(space)));
    if (!pair) return wrong;
    const std::size_t colon = pair->find(':');
    if (colon == std::string::npos) return wrong;
    return credentials{pair->substr(0, colon), pair->substr(colon + 1)};
}

/// Errors: unauthenticated, naming the header that is missing, wrong, or sent twice.
result<credentials> credentials_in(const request& received) {
    credential_fields fields;
    for (const auto& [name, value] : received.headers) {
        if (is_of_a_token(name)) fields.token = name;
        std::optional<std::string_view>* const field = fields.of(name);
        if (!field) continue;
        if (*field) return runtime::unauthenticated({"the header ", name, " was sent twice; send it once"});
        *field = value;
    }
    // The two spellings of the key's header name count as one field.
    if (fields.key && fields.dashed_key && *fields.key != *fields.dashed_key)
        return runtime::unauthenticated(
            "Grpc-Metadata-developer_key and Grpc-Metadata-developer-key differ; send one of them, or the "
            "same key in both");
    const auto key = fields.key ? fields.key : fields.dashed_key;
    const bool has_email = fields.email && !fields.email->empty(), has_key = key && !key->empty();
    if (has_email && has_key) return credentials{std::string(*fields.email), std::string(*key)};
    if (fields.token)
        return runtime::unauthenticated({"the header ", *fields.token,
                                         " holds an access token, which is not supported; send "
                                         "Grpc-Metadata-email and Grpc-Metadata-developer_key"});
    if (!has_email && !has_key && fields.basic) return basic_credentials(*fields.basic);
    return runtime::unauthenticated(
        {has_key     ? "the header Grpc-Metadata-email is missing"
         : has_email ? "the header Grpc-Metadata-developer_key is missing"
                     : "the headers Grpc-Metadata-email and Grpc-Metadata-developer_key are "
                       "missing",
         "; give the e-mail and a developer key of a user"});
}

error refusal_of(const schemas::commands::outcome& outcome) {
    const auto code =
        runtime::is_error_code(outcome.code) ? static_cast<error_code>(outcome.code) : error_code::internal;
    return {code, outcome.message};
}

std::vector<std::string> texts_of(const std::vector<ignored_member>& members) {
    std::vector<std::string> texts;
    for (const ignored_member& each : members) texts.push_back(shown(each.path) + " " + each.why);
    return texts;
}

}  // namespace

std::string offset_text(std::uint32_t generation, std::uint64_t offset) {
    return std::to_string(generation) + "-" + std::to_string(offset);
}

std::optional<std::string> reading_call::find_query(std::string_view name) const {
    return find_in_query(x_request.query, name);
}

std::optional<std::string> find_in_query(std::string_view query, std::string_view name) {
    std::string_view rest = query;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('&'), rest.size());
        const std::string_view pair = rest.substr(0, end);
        const std::size_t equals = std::min(pair.find('='), pair.size());
        if (decoded(pair.substr(0, equals)) == name)
            return decoded(pair.substr(std::min(equals + 1, pair.size())));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return std::nullopt;
}

result<std::uint64_t> reading_call::query_number(std::string_view name) const {
    const std::string text = query(name);
    const auto number = runtime::parse_plain_decimal(text);
    if (number) return *number;
    return runtime::invalid_argument(
        {"the query parameter ", name, " is \"", text, "\"; it must be a number without leading zeros"});
}

result<std::uint64_t> reading_call::path_number(std::string_view name) const {
    const std::string_view text = path_segment(name);
    const auto number = runtime::parse_plain_decimal(text);
    if (number && *number != 0) return *number;
    return runtime::not_found(
        {"\"", text, "\" is not a valid id: expected a positive number without leading zeros"});
}

result<schemas::json_value> reading_call::parsed() const {
    if (const auto good = check_coding(x_request); !good) return good.error();
    return schemas::parse_json(x_request.body);
}

result<schemas::json_value> reading_call::json() const {
    if (x_request.body.empty()) return schemas::json_value(schemas::json_object());
    auto value = parsed();
    if (value && !value->get_if<schemas::json_object>())
        return runtime::invalid_argument({"the body is ", value->kind_text(), "; it must be a JSON object"});
    return value;
}

result<std::string> reading_call::text() const {
    if (x_request.body.empty())
        return runtime::invalid_argument("the body is missing; it must be a JSON string");
    const auto value = parsed();
    if (!value) return value.error();
    if (const auto* said = value->get_if<std::string>()) return *said;
    return runtime::invalid_argument({"the body is ", value->kind_text(), "; it must be a JSON string"});
}

bool reading_call::is_strict() const {
    return std::any_of(x_request.headers.begin(), x_request.headers.end(), [](const header_view& field) {
        return runtime::equals_ignoring_case(field.name, "prefer") && prefers_strict(field.value);
    });
}

result<void> reading_call::ignore(const std::vector<ignored_member>& members) {
    if (members.empty()) return {};
    std::vector<std::string> texts = texts_of(members);
    if (is_strict())
        return runtime::invalid_argument(
            {joined(texts), " (Prefer: handling=strict refuses members that would be ignored)"});
    for (std::string& text : texts)
        if (x_warnings.size() < limits::unknown_members_max) x_warnings.push_back(std::move(text));
    return {};
}

result<void> reading_call::ignore_unknown(const std::vector<schemas::unknown_member>& unknown,
                                          bool refuses_them) {
    if (refuses_them && !unknown.empty()) return refusal_of_unknown(ignored_of(unknown));
    return ignore(ignored_of(unknown));
}

error refusal_of_unknown(const std::vector<ignored_member>& members) {
    return runtime::invalid_argument(
        {joined(texts_of(members)),
         " (this request decides who may do what, so it refuses unknown members)"});
}

std::vector<ignored_member> ignored_of(const std::vector<schemas::unknown_member>& unknown) {
    std::vector<ignored_member> ignored;
    for (const schemas::unknown_member& each : unknown)
        ignored.push_back({each.path, each.nearest.empty()
                                          ? "is unknown"
                                          : "is unknown; the nearest name is " + each.nearest});
    return ignored;
}

std::string reading_call::base_url() const {
    const address_of_node& node = with().address;
    if (!node.public_url.empty()) return node.public_url;
    const auto host = received().header("host").value_or("");
    return node.scheme + "://" + std::string(host.empty() ? received().local_address : host);
}

result<schemas::commands::request_identity> writing_call::identity() const {
    schemas::commands::request_identity identity;
    identity.principal = who().user->id;
    identity.credential_hash = who().credential_hash;
    identity.scope = std::string(name_of(received().method)) + " " + std::string(received().path);
    const auto is_key = [](const header_view& field) {
        return runtime::equals_ignoring_case(field.name, "idempotency-key");
    };
    if (std::count_if(received().headers.begin(), received().headers.end(), is_key) > 1)
        return runtime::invalid_argument("more than one Idempotency-Key was sent; send one");
    const auto key = received().header("idempotency-key");
    if (key && (key->empty() || key->size() > limits::idempotency_key_bytes_max))
        return runtime::invalid_argument({"Idempotency-Key is ", key->size(), " bytes long; it must be 1 to ",
                                          limits::idempotency_key_bytes_max, " characters of visible ASCII"});
    if (key && !is_visible_ascii(*key))
        return runtime::invalid_argument(
            {"Idempotency-Key holds a space or another character that is not visible ASCII; it must be 1 to ",
             limits::idempotency_key_bytes_max, " characters of visible ASCII"});
    identity.idempotency_key = key.value_or("");
    identity.address = received().remote_address;
    identity.base_url = base_url();
    if (identity.base_url.size() > limits::base_url_bytes_max)
        return runtime::invalid_argument("the Host field is too long");
    const std::string_view trace = received().header("traceparent").value_or("");
    if (runtime::is_traceparent(trace)) identity.traceparent = trace;
    identity.request_id = received().request_id;
    if (!key) return identity;
    runtime::sha256_stream fingerprint;
    fingerprint.add(received().query);
    fingerprint.add(std::string_view("\0", 1));
    fingerprint.add(received().body);
    identity.fingerprint = runtime::as_bytes(fingerprint.finish());
    return identity;
}

bool writing_call::is_decided(const storage::registry::state::state_view& state) const {
    const auto request = identity();
    return request && storage::registry::find::has_outcome(state, *request);
}

task<schemas::commands::outcome> writing_call::append(schemas::commands::command_type type, std::string body,
                                                      schemas::uuid command_id) {
    auto who = identity();
    if (!who) co_return who.error();
    x_has_sent = true;
    command_to_append command{type, std::move(body), *std::move(who), command_id};
    co_return co_await append_command(with(), x_limit, std::move(command));
}

task<runtime::http::http_response> writing_call::write(schemas::commands::command_type type, std::string body,
                                                       text_maker text_of) {
    const auto outcome = co_await append(type, std::move(body), with().random.uuid());
    if (!outcome) co_return outcome.error();
    auto text = text_of(outcome->body);
    if (!text) co_return text.error();
    co_return answer(*outcome, *std::move(text));
}

task<schemas::commands::outcome> append_command(const services& with, const time_limit& limit,
                                                command_to_append what) {
    const bool has_key = !what.who.idempotency_key.empty();
    if (what.command_id == schemas::uuid{}) what.command_id = with.random.uuid();
    const auto start = [&](auto finished) {
        with.registry.submit(what.type, std::move(what.body), std::move(what.who), what.command_id,
                             std::move(finished));
    };
    const auto outcome = co_await await_callback<result<schemas::commands::outcome>>(limit, start);
    if (!outcome && outcome.error().code == error_code::deadline_exceeded)
        co_return storage::node::outcome_unknown(has_key);
    if (!outcome) co_return outcome.error();
    if (outcome->code != 0) co_return refusal_of(*outcome);
    co_return *outcome;
}

result<std::string> writing_call::mint(std::string_view key_name, const schemas::uuid& command_id,
                                       std::string_view purpose) const {
    return with().keys.mint(key_name, runtime::as_bytes(command_id), purpose);
}

runtime::http::http_response reading_call::answer_at(std::uint64_t offset, std::string body) const {
    runtime::http::http_response response;
    response.body = std::move(body);
    response.headers.push_back({"svc-registry-offset", offset_text(reading().generation, offset)});
    if (!x_warnings.empty()) response.headers.push_back({"svc-warning", joined(x_warnings)});
    return response;
}

runtime::http::http_response reading_call::answer(std::string body) const {
    runtime::http::http_response response = answer_at(reading().offset, std::move(body));
    if (reading().stale) response.headers.push_back({"svc-registry-stale", "true"});
    return response;
}

runtime::http::http_response writing_call::answer(const schemas::commands::outcome& outcome,
                                                  std::string body) const {
    return answer_at(outcome.offset, std::move(body));
}

runtime::http::header offset_header(const storage::node::registry_node::reading& state) {
    return {"svc-registry-offset", offset_text(state.generation, state.offset)};
}

task<storage::node::registry_node::reading> read_state(storage::node::registry_node& registry,
                                                       const time_limit& limit) {
    auto now = registry.read_now(storage::node::freshness::newest);
    if (now) co_return *std::move(now);
    const auto start = [&](auto finished) { registry.read(std::move(finished)); };
    co_return co_await await_callback<result<storage::node::registry_node::reading>>(limit, start);
}

result<void> check_coding(const request& received) {
    const auto coding = received.header("content-encoding");
    if (!coding || runtime::equals_ignoring_case(*coding, "identity")) return {};
    return error{error_code::invalid_argument,
                 "Content-Encoding is " + std::string(*coding) + "; send the body as it is", 415};
}

result<void> check_query(const route& row, const request& received) {
    for (const query_parameter& each : row.query)
        if (each.is_required && !find_in_query(received.query, each.name))
            return runtime::invalid_argument(
                {"the query parameter ", each.name, " is missing; it must be ", each.meaning});
    return {};
}

namespace {

bool shows_credentials(const request& received) {
    credential_fields fields;
    return std::any_of(received.headers.begin(), received.headers.end(), [&](const header_view& field) {
        return is_of_a_token(field.name) || fields.of(field.name);
    });
}

/// Errors: unauthenticated.
result<caller> caller_of(const cookie_session& sent, const storage::registry::state::state_view& state) {
    std::string key_hash(runtime::as_bytes(runtime::sha256(sent.key)));
    if (const auto user = storage::registry::find::user_with_id(state, sent.user))
        if (auto found = storage::registry::access::user_with_key(state, user->email, key_hash))
            return caller{std::move(found), std::move(key_hash)};
    return runtime::unauthenticated("the console's session has ended; sign in again");
}

}  // namespace

result<caller> authenticate(const request& received, const storage::registry::state::state_view& state,
                            const address_of_node& here) {
    if (!shows_credentials(received))
        if (const auto sent = session_in_cookie(received, here, storage::registry::find::log_id_of(state)))
            return caller_of(*sent, state);
    auto sent = credentials_in(received);
    if (!sent) return sent.error();
    if (sent->email.size() <= limits::email_bytes_max) {
        std::string key_hash(runtime::as_bytes(runtime::sha256(sent->key)));
        if (auto user = storage::registry::access::user_with_key(state, sent->email, key_hash))
            return caller{std::move(user), std::move(key_hash)};
    }
    // The text is the same whether or not the user exists: a stranger must not learn who has an account.
    return runtime::unauthenticated(
        "the headers Grpc-Metadata-email and Grpc-Metadata-developer_key are not a valid pair; give the "
        "e-mail "
        "and a developer key of the same user");
}

}  // namespace herald::api::calls
