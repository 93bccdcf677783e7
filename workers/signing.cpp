// Standard Webhooks, and GitHub's way of signing.
#include "workers/signing.hpp"

#include "runtime/crypto.hpp"
#include "runtime/signing.hpp"

namespace herald::workers {

namespace {

constexpr std::string_view standard_secret_prefix = "whsec_";
constexpr std::size_t standard_key_bytes_min = 24;
constexpr std::size_t standard_key_bytes_max = 64;

}  // namespace

std::string signing_key(std::string_view secret) {
    if (secret.starts_with(standard_secret_prefix)) {
        // With padding, with none, or with too much: receivers' libraries accept all three.
        std::string text(secret.substr(standard_secret_prefix.size()));
        while (text.ends_with('=')) text.pop_back();
        text.append((4 - text.size() % 4) % 4, '=');
        auto key = runtime::from_base64(text);
        if (key && key->size() >= standard_key_bytes_min && key->size() <= standard_key_bytes_max) {
            return std::move(*key);
        }
    }
    return std::string(secret);
}

std::string standard_signature(std::string_view secret, std::string_view signed_text) {
    const auto digest = runtime::hmac_sha256(signing_key(secret), signed_text);
    return "v1," + runtime::to_base64(runtime::as_bytes(digest));
}

std::string asymmetric_signature(std::string_view seed, std::string_view signed_text) {
    return "v1a," + runtime::to_base64(runtime::sign(seed, signed_text));
}

std::string github_signature(std::string_view secret, std::string_view body) {
    return "sha256=" + runtime::to_hex(runtime::as_bytes(runtime::hmac_sha256(secret, body)));
}

}  // namespace herald::workers
