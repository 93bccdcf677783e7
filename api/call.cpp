#include "api/call.hpp"

#include "api/await_callback.hpp"
#include "runtime/limits.hpp"
#include "runtime/text.hpp"
#include "storage/access.hpp"

namespace herald::api {
namespace {

std::string offset_text(std::uint32_t generation, std::uint64_t offset) {
    return std::to_string(generation) + "-" + std::to_string(offset);
}

std::optional<int> hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return std::nullopt;
}

/// application/x-www-form-urlencoded: `+` is a space. Bytes that are no escape stay as they are.
std::string decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
        const auto low = high ? hex_digit(text[i + 2]) : std::nullopt;
        if (low) {
            out += static_cast<char>(*high * 16 + *low);
            i += 2;
        } else {
            out += text[i] == '+' ? ' ' : text[i];
        }
    }
    return out;
}

bool is_visible_ascii(std::string_view text) {
    for (const char c : text)
        if (c < 0x21 || c > 0x7E) return false;
    return true;
}

error refusal_of(const schemas::outcome& outcome) {
    const auto code =
        runtime::is_error_code(outcome.code) ? static_cast<error_code>(outcome.code) : error_code::internal;
    return {code, outcome.message};
}

}  // namespace

std::string call::query(std::string_view name) const {
    std::string_view rest = x_request.query;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('&'), rest.size());
        const std::string_view pair = rest.substr(0, end);
        const std::size_t equals = std::min(pair.find('='), pair.size());
        if (decoded(pair.substr(0, equals)) == name)
            return decoded(pair.substr(std::min(equals + 1, pair.size())));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return {};
}

result<std::uint64_t> call::query_number(std::string_view name) const {
    const std::string text = query(name);
    const auto number = runtime::parse_decimal(text);
    if (number) return *number;
    return runtime::invalid_argument("the query parameter " + std::string(name) + " is \"" + text +
                                     "\"; it must be a number");
}

result<std::uint64_t> call::path_number(std::string_view name) const {
    const std::string_view text = x_match.parameter(name);
    const auto number = runtime::parse_decimal(text);
    if (number && *number != 0) return *number;
    return runtime::not_found("\"" + std::string(text) + "\" is no id; an id is a number from 1 on");
}

result<schemas::json_value> call::json() const {
    if (x_request.body.empty()) return schemas::json_value(schemas::json_object());
    auto value = schemas::parse_json(x_request.body);
    if (value && !value->get_if<schemas::json_object>())
        return runtime::invalid_argument("the body is " + std::string(value->kind_text()) +
                                         "; it must be a JSON object");
    return value;
}

void call::show(storage::node::reading state, caller who) {
    x_reading = std::move(state);
    x_caller = std::move(who);
}

result<schemas::request_identity> call::identity() const {
    schemas::request_identity identity;
    identity.principal = x_caller.user->id;
    identity.credential_hash = x_caller.credential_hash;
    identity.scope = std::string(name_of(x_request.method)) + " " + std::string(x_request.path);
    identity.idempotency_key = x_request.header("idempotency-key").value_or("");
    identity.address = x_request.remote_address;
    identity.traceparent =
        x_request.header("traceparent").value_or("").substr(0, limits::idempotency_key_bytes_max);
    if (identity.idempotency_key.empty()) return identity;
    if (identity.idempotency_key.size() > limits::idempotency_key_bytes_max ||
        !is_visible_ascii(identity.idempotency_key))
        return runtime::invalid_argument("Idempotency-Key must be 1 to 128 characters of visible ASCII");
    runtime::sha256_stream fingerprint;
    fingerprint.add(x_request.query);
    fingerprint.add(std::string_view("\0", 1));
    fingerprint.add(x_request.body);
    identity.fingerprint = runtime::as_bytes(fingerprint.finish());
    return identity;
}

task<schemas::outcome> call::append(schemas::command_type type, std::string body, schemas::uuid command_id) {
    auto who = identity();
    if (!who) co_return who.error();
    storage::node& registry = x_services.registry;
    const auto start = [&](auto finished) {
        registry.submit(type, std::move(body), *std::move(who), command_id, std::move(finished));
    };
    const auto outcome = co_await await_callback<result<schemas::outcome>>(start);
    if (!outcome) co_return outcome.error();
    if (outcome->code != 0) co_return refusal_of(*outcome);
    co_return *outcome;
}

result<std::string> call::mint(std::string_view key_name, const schemas::uuid& command_id,
                               std::string_view purpose) const {
    const std::string_view id(reinterpret_cast<const char*>(command_id.data()), command_id.size());
    return x_services.keys.mint(key_name, id, purpose);
}

result<std::string> call::minted(const schemas::outcome& outcome, std::string_view purpose) const {
    return mint(outcome.key_name, outcome.command_id, purpose);
}

task<schemas::attempt> call::test(schemas::delivery what) {
    storage::test_deliveries& tests = x_services.tests;
    const auto start = [&](auto finished) { tests.send(std::move(what), std::move(finished)); };
    co_return co_await await_callback<result<schemas::attempt>>(start);
}

runtime::http_response call::answer(std::string body) const {
    runtime::http_response response;
    response.body = std::move(body);
    response.headers.push_back({"svc-registry-offset", offset_text(x_reading.generation, x_reading.offset)});
    if (x_reading.stale) response.headers.push_back({"svc-registry-stale", "true"});
    return response;
}

runtime::http_response call::answer(const schemas::outcome& outcome, std::string body) const {
    runtime::http_response response;
    response.body = std::move(body);
    response.headers.push_back({"svc-registry-offset", offset_text(x_reading.generation, outcome.offset)});
    return response;
}

task<storage::node::reading> read_state(storage::node& registry) {
    auto now = registry.read_now();
    if (now) co_return *std::move(now);
    const auto start = [&](auto finished) { registry.read(std::move(finished)); };
    co_return co_await await_callback<result<storage::node::reading>>(start);
}

result<caller> authenticate(const request& received, const storage::state_view& state) {
    const auto email = received.header("grpc-metadata-email");
    auto key = received.header("grpc-metadata-developer_key");
    if (!key) key = received.header("grpc-metadata-developer-key");
    if (email && key && !key->empty() && email->size() <= limits::email_bytes_max) {
        std::string key_hash(runtime::as_bytes(runtime::sha256(*key)));
        if (auto user = storage::user_with_key(state, *email, key_hash))
            return caller{std::move(user), std::move(key_hash)};
    }
    return runtime::unauthenticated(
        "give the e-mail and a developer key of a user in the headers Grpc-Metadata-email and "
        "Grpc-Metadata-developer_key");
}

}  // namespace herald::api
