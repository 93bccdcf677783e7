#include "api/calls/call.hpp"

#include <algorithm>

#include "api/calls/await_callback.hpp"
#include "api/calls/limits.hpp"
#include "runtime/text.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"

namespace herald::api::calls {
namespace {

using runtime::http::server::header_view;
using runtime::http::server::request;

std::string offset_text(std::uint32_t generation, std::uint64_t offset) {
    return std::to_string(generation) + "-" + std::to_string(offset);
}

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

/// At most limits::warning_name_bytes_max bytes of visible ASCII.
std::string percent_encoded(std::string_view name) {
    static constexpr std::string_view hex = "0123456789ABCDEF";
    std::string out;
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                           std::string_view("-._~[]").find(c) != std::string_view::npos;
        if (out.size() + (plain ? 1 : 3) > limits::warning_name_bytes_max) break;
        if (plain)
            out += c;
        else
            out += {'%', hex[byte >> 4], hex[byte & 15]};
    }
    return out;
}

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
    while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
    return text;
}

/// Whether a Prefer field (a list of preferences, possibly with parameters) asks for strict handling.
bool prefers_strict(std::string_view field) {
    while (!field.empty()) {
        const std::string_view one = field.substr(0, field.find(','));
        field.remove_prefix(std::min(one.size() + 1, field.size()));
        const std::string_view preference = trimmed(one.substr(0, one.find(';')));
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

error refusal_of(const schemas::commands::outcome& outcome) {
    const auto code =
        runtime::is_error_code(outcome.code) ? static_cast<error_code>(outcome.code) : error_code::internal;
    return {code, outcome.message};
}

}  // namespace

std::optional<std::string> reading_call::find_query(std::string_view name) const {
    std::string_view rest = x_request.query;
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
    const auto number = runtime::parse_decimal(text);
    if (number) return *number;
    return runtime::invalid_argument("the query parameter " + std::string(name) + " is \"" + text +
                                     "\"; it must be a number");
}

result<std::uint64_t> reading_call::path_number(std::string_view name) const {
    const std::string_view text = x_match.parameter(name);
    const auto number = runtime::parse_decimal(text);
    if (number && *number != 0) return *number;
    return runtime::not_found("\"" + std::string(text) + "\" is no id; an id is a number from 1 on");
}

result<schemas::json_value> reading_call::json() const {
    if (x_request.body.empty()) return schemas::json_value(schemas::json_object());
    const auto encoding = x_request.header("content-encoding");
    if (encoding && !runtime::equals_ignoring_case(*encoding, "identity"))
        return error{error_code::invalid_argument,
                     "Content-Encoding is " + std::string(*encoding) + "; send the body as it is", 415};
    auto value = schemas::parse_json(x_request.body);
    if (value && !value->get_if<schemas::json_object>())
        return runtime::invalid_argument("the body is " + std::string(value->kind_text()) +
                                         "; it must be a JSON object");
    return value;
}

bool reading_call::is_strict() const {
    return std::any_of(x_request.headers.begin(), x_request.headers.end(), [](const header_view& field) {
        return runtime::equals_ignoring_case(field.name, "prefer") && prefers_strict(field.value);
    });
}

result<void> reading_call::ignore(const std::vector<ignored_member>& members) {
    if (members.empty()) return {};
    std::vector<std::string> texts;
    for (const ignored_member& each : members) texts.push_back(percent_encoded(each.path) + " " + each.why);
    if (is_strict())
        return runtime::invalid_argument(joined(texts) +
                                         " (Prefer: handling=strict refuses what would be ignored)");
    for (std::string& text : texts)
        if (x_warnings.size() < limits::unknown_members_max) x_warnings.push_back(std::move(text));
    return {};
}

std::vector<ignored_member> ignored_of(const std::vector<schemas::unknown_member>& unknown) {
    std::vector<ignored_member> ignored;
    for (const schemas::unknown_member& each : unknown)
        ignored.push_back({each.path, each.nearest.empty()
                                          ? "is unknown"
                                          : "is unknown, the nearest name is " + each.nearest});
    return ignored;
}

void reading_call::show(storage::node::registry_node::reading state, caller who) {
    x_reading = std::move(state);
    x_caller = std::move(who);
}

std::string writing_call::base_url() const {
    const address_of_node& node = with().address;
    const auto host = received().header("host");
    if (!node.public_url.empty() || !host || host->empty()) return node.public_url;
    return node.scheme + "://" + std::string(*host);
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
        return runtime::invalid_argument("there is more than one Idempotency-Key; send one");
    const auto key = received().header("idempotency-key");
    if (key && (key->empty() || key->size() > limits::idempotency_key_bytes_max))
        return runtime::invalid_argument(
            "Idempotency-Key is " + std::to_string(key->size()) + " bytes long; it must be 1 to " +
            std::to_string(limits::idempotency_key_bytes_max) + " characters of visible ASCII");
    if (key && !is_visible_ascii(*key))
        return runtime::invalid_argument(
            "Idempotency-Key holds a space or another character that is no visible ASCII; it must be 1 to " +
            std::to_string(limits::idempotency_key_bytes_max) + " characters of visible ASCII");
    identity.idempotency_key = key.value_or("");
    identity.address = received().remote_address;
    identity.base_url = base_url();
    if (identity.base_url.size() > limits::base_url_bytes_max)
        return runtime::invalid_argument("the Host field is too long");
    const std::string_view trace = received().header("traceparent").value_or("");
    if (runtime::is_traceparent(trace)) identity.traceparent = trace;
    if (!key) return identity;
    runtime::sha256_stream fingerprint;
    fingerprint.add(received().query);
    fingerprint.add(std::string_view("\0", 1));
    fingerprint.add(received().body);
    identity.fingerprint = runtime::as_bytes(fingerprint.finish());
    return identity;
}

task<schemas::commands::outcome> writing_call::append(schemas::commands::command_type type, std::string body,
                                                      schemas::uuid command_id) {
    auto who = identity();
    if (!who) co_return who.error();
    const bool has_key = !who->idempotency_key.empty();
    storage::node::registry_node& registry = with().registry;
    const auto start = [&](auto finished) {
        registry.submit(type, std::move(body), *std::move(who), command_id, std::move(finished));
    };
    const auto outcome = co_await await_callback<result<schemas::commands::outcome>>(x_limit, start);
    if (!outcome && outcome.error().code == error_code::deadline_exceeded)
        co_return storage::node::outcome_unknown(has_key);
    if (!outcome) co_return outcome.error();
    if (outcome->code != 0) co_return refusal_of(*outcome);
    co_return *outcome;
}

result<std::string> writing_call::mint(std::string_view key_name, const schemas::uuid& command_id,
                                       std::string_view purpose) const {
    const std::string_view id(reinterpret_cast<const char*>(command_id.data()), command_id.size());
    return with().keys.mint(key_name, id, purpose);
}

result<std::string> writing_call::minted(const schemas::commands::outcome& outcome,
                                         std::string_view purpose) const {
    return mint(outcome.key_name, outcome.command_id, purpose);
}

task<schemas::attempt> writing_call::test(schemas::delivery what) {
    storage::deliveries::trigger_calls& triggers = with().triggers;
    const auto start = [&](auto finished) { triggers.send(std::move(what), std::move(finished)); };
    co_return co_await await_callback<result<schemas::attempt>>(x_limit, start);
}

runtime::http::http_response reading_call::answer_at(std::uint64_t offset, std::string body) const {
    runtime::http::http_response response;
    response.body = std::move(body);
    response.headers.push_back({"svc-registry-offset", offset_text(x_reading.generation, offset)});
    if (!x_warnings.empty()) response.headers.push_back({"svc-warning", joined(x_warnings)});
    return response;
}

runtime::http::http_response reading_call::answer(std::string body) const {
    runtime::http::http_response response = answer_at(x_reading.offset, std::move(body));
    if (x_reading.stale) response.headers.push_back({"svc-registry-stale", "true"});
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
    auto now = registry.read_now();
    if (now) co_return *std::move(now);
    const auto start = [&](auto finished) { registry.read(std::move(finished)); };
    co_return co_await await_callback<result<storage::node::registry_node::reading>>(limit, start);
}

result<void> check_query(const route& row, const reading_call& call) {
    for (const query_parameter& each : row.query)
        if (each.is_required && !call.find_query(each.name))
            return runtime::invalid_argument("the query parameter " + std::string(each.name) +
                                             " is missing; it must be " + std::string(each.meaning));
    return {};
}

result<caller> authenticate(const request& received, const storage::registry::state::state_view& state) {
    // The two spellings of the key's header name count as one field.
    std::optional<std::string_view> email, key, dashed_key;
    for (const auto& [name, value] : received.headers) {
        std::optional<std::string_view>* const field =
            runtime::equals_ignoring_case(name, "grpc-metadata-email")           ? &email
            : runtime::equals_ignoring_case(name, "grpc-metadata-developer_key") ? &key
            : runtime::equals_ignoring_case(name, "grpc-metadata-developer-key") ? &dashed_key
                                                                                 : nullptr;
        if (!field) continue;
        if (*field)
            return runtime::unauthenticated("the header " + std::string(name) +
                                            " is there twice; send it once");
        *field = value;
    }
    if (key && dashed_key && *key != *dashed_key)
        return runtime::unauthenticated(
            "Grpc-Metadata-developer_key and Grpc-Metadata-developer-key differ; send one of them, or the "
            "same key in both");
    if (!key) key = dashed_key;
    const bool has_email = email && !email->empty(), has_key = key && !key->empty();
    if (!has_email || !has_key)
        return runtime::unauthenticated(
            std::string(has_key     ? "the header Grpc-Metadata-email is missing"
                        : has_email ? "the header Grpc-Metadata-developer_key is missing"
                                    : "the headers Grpc-Metadata-email and Grpc-Metadata-developer_key are "
                                      "missing") +
            "; give the e-mail and a developer key of a user");
    if (email->size() <= limits::email_bytes_max) {
        std::string key_hash(runtime::as_bytes(runtime::sha256(*key)));
        if (auto user = storage::registry::access::user_with_key(state, *email, key_hash))
            return caller{std::move(user), std::move(key_hash)};
    }
    // The same text whether there is such a user or not: a stranger must not learn who has an account.
    return runtime::unauthenticated(
        "the headers Grpc-Metadata-email and Grpc-Metadata-developer_key are no valid pair; give the e-mail "
        "and a developer key of the same user");
}

}  // namespace herald::api::calls
