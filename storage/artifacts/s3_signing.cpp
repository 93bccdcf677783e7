#include "storage/artifacts/s3_signing.hpp"

#include <algorithm>
#include <map>

#include "runtime/crypto.hpp"
#include "runtime/text.hpp"

namespace herald::storage::artifacts {
namespace {

constexpr std::string_view algorithm = "AWS4-HMAC-SHA256";

/// Without spaces around it, and with one for each row of them inside.
std::string trimmed(std::string_view value) {
    std::string out;
    for (const char c : value) {
        const bool is_space = c == ' ' || c == '\t';
        if (!is_space)
            out += c;
        else if (!out.empty() && out.back() != ' ')
            out += ' ';
    }
    if (out.ends_with(' ')) out.pop_back();
    return out;
}

/// By lower-case name; the values of a name that repeats are joined in their order.
std::map<std::string, std::string> canonical_headers(const signed_request& request) {
    std::map<std::string, std::string> all;
    for (const auto& [name, value] : request.headers) {
        const auto [place, is_new] = all.try_emplace(runtime::to_lower(name), trimmed(value));
        if (!is_new) place->second += "," + trimmed(value);
    }
    return all;
}

std::string signed_names(const signed_request& request) {
    std::string names;
    for (const auto& [name, value] : canonical_headers(request)) names += (names.empty() ? "" : ";") + name;
    return names;
}

std::string scope_text(const signed_request& request, const signature_scope& scope) {
    return signing_time(request.time_ms).substr(0, 8) + "/" + scope.region + "/" + scope.service +
           "/aws4_request";
}

std::string hmac(std::string_view key, std::string_view text) {
    return std::string(runtime::as_bytes(runtime::hmac_sha256(key, text)));
}

}  // namespace

std::string path_of(std::string_view key) {
    return runtime::percent_encoded(key, [](char c) { return runtime::is_unreserved(c) || c == '/'; });
}

std::string query_text(std::vector<std::pair<std::string, std::string>> query) {
    for (auto& [name, value] : query) {
        name = runtime::percent_encoded(name);
        value = runtime::percent_encoded(value);
    }
    std::sort(query.begin(), query.end());
    std::string text;
    for (const auto& [name, value] : query)
        text.append(text.empty() ? "" : "&").append(name).append("=").append(value);
    return text;
}

std::string signing_time(std::int64_t ms_since_epoch) {
    std::string compact;
    for (const char c : runtime::iso8601_ms(ms_since_epoch).substr(0, 19))
        if (c != '-' && c != ':') compact += c;
    return compact + "Z";
}

std::string canonical_request(const signed_request& request) {
    std::string text = request.method + "\n" + request.path + "\n" + query_text(request.query) + "\n";
    for (const auto& [name, value] : canonical_headers(request))
        text.append(name).append(":").append(value).append("\n");
    return text + "\n" + signed_names(request) + "\n" + request.payload_hash;
}

std::string text_to_sign(const signed_request& request, const signature_scope& scope) {
    return std::string(algorithm) + "\n" + signing_time(request.time_ms) + "\n" + scope_text(request, scope) +
           "\n" + runtime::to_hex(runtime::as_bytes(runtime::sha256(canonical_request(request))));
}

std::string authorization(const signed_request& request, const signature_scope& scope,
                          const s3_credentials& credentials) {
    std::string key =
        hmac("AWS4" + credentials.secret, std::string_view(signing_time(request.time_ms)).substr(0, 8));
    for (const std::string_view step :
         {std::string_view(scope.region), std::string_view(scope.service), std::string_view("aws4_request")})
        key = hmac(key, step);
    return std::string(algorithm) + " Credential=" + credentials.key_id + "/" + scope_text(request, scope) +
           ", SignedHeaders=" + signed_names(request) +
           ", Signature=" + runtime::to_hex(hmac(key, text_to_sign(request, scope)));
}

}  // namespace herald::storage::artifacts
