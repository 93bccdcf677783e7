#include "api/webhooks/sealing.hpp"

#include <algorithm>
#include <set>

#include "runtime/crypto.hpp"
#include "runtime/key_ring.hpp"
#include "runtime/text.hpp"
#include "schemas/json.hpp"
#include "schemas/limits.hpp"
#include "workers/signing.hpp"

namespace herald::api::webhooks {
namespace {

using calls::writing_call;

constexpr std::string_view standard_prefix = "whsec_";  // of Standard Webhooks
constexpr std::size_t new_secret_bytes = 32;

/// What the value of a header may hold (RFC 9110 §5.5), without what only old software sends.
bool is_header_value(std::string_view value) {
    return runtime::trimmed(value, " ").size() == value.size() &&
           std::ranges::all_of(value, [](char c) { return c >= 0x20 && c < 0x7f; });
}

}  // namespace

result<void> check_secret(std::string_view field, const std::string& secret) {
    if (secret.size() > limits::secret_bytes_max)
        return runtime::invalid_argument(
            {field, " is ", secret.size(), " bytes long; it must be at most ", limits::secret_bytes_max});
    const std::string_view inside = runtime::trimmed(secret, " \t\n\v\f\r");
    if (inside.size() != secret.size() && inside.starts_with(standard_prefix))
        return runtime::invalid_argument(
            {field, " has white space before or after a whsec_ secret; remove it"});
    if (!secret.starts_with(standard_prefix)) return {};
    const std::string key = workers::signing_key(secret);
    if (key == secret)
        return runtime::invalid_argument(
            {field,
             " starts with whsec_, but what follows is not the padded base64 of 24 to 64 bytes; "
             "make one with: echo whsec_$(head -c 32 /dev/urandom | base64)"});
    if (runtime::to_base64(key) != secret.substr(standard_prefix.size()))
        return runtime::invalid_argument(
            {field,
             " starts with whsec_, but the base64 that follows is not padded rightly; it must be "
             "padded with = to the next multiple of 4 characters"});
    return {};
}

void warn_of_weak(writing_call& call, std::string_view field, const std::string& secret) {
    constexpr std::string_view advice = "; use whsec_ and the base64 of 24 to 64 random bytes";
    if (secret.empty())
        call.warn(std::string(field) + " is empty: deliveries are not signed" + std::string(advice));
    else if (secret.size() < limits::secret_bytes_recommended)
        call.warn(std::string(field) + " is " + std::to_string(secret.size()) +
                  " bytes long, which can be guessed" + std::string(advice));
}

std::string new_secret(writing_call& call) {
    return std::string(standard_prefix) + runtime::to_base64(call.with().random.bytes(new_secret_bytes));
}

sealed seal(writing_call& call, const std::string& secret) {
    if (secret.empty()) return {};
    std::string binding = "webhook:" + runtime::uuid_text(call.with().random.uuid());
    std::string bytes = call.with().keys.seal(binding, secret, call.with().random);
    return {std::move(bytes), std::move(binding)};
}

result<std::string> secret_of_row(writing_call& call, const schemas::webhook& row) {
    if (row.sealed_secret.empty()) return std::string();
    return call.with().keys.unseal(row.seal_binding, row.sealed_secret);
}

result<header_changes> headers_in(writing_call& call, const schemas::json_text& sent) {
    header_changes changes;
    if (sent.text.empty()) return changes;
    const auto value = schemas::parse_json(sent.text);
    const schemas::json_object* members = value ? value->get_if<schemas::json_object>() : nullptr;
    if (!members) return runtime::invalid_argument("headers must be an object of names and values");
    std::set<std::string> names;
    for (const auto& [name, text] : *members) {
        const std::string shown = runtime::shortened(name, limits::webhook_header_name_bytes_max);
        if (!names.insert(runtime::to_lower(name)).second)
            return runtime::invalid_argument(
                {"headers has ", shown, " twice, but for the case of letters; name each header once"});
        if (text.is_null()) {
            changes.removed.push_back(runtime::to_lower(name));
            continue;
        }
        const std::string* held = text.get_if<std::string>();
        if (!held || held->empty() || held->size() > limits::webhook_header_value_bytes_max ||
            !is_header_value(*held))
            return runtime::invalid_argument(
                {"headers.", shown, " must be a string of 1 to ", limits::webhook_header_value_bytes_max,
                 " characters of visible ASCII, with spaces only inside, or null to remove the header"});
        sealed value_of = seal(call, *held);
        changes.added.push_back(
            {runtime::to_lower(name), std::move(value_of.bytes), std::move(value_of.binding)});
    }
    return changes;
}

}  // namespace herald::api::webhooks
