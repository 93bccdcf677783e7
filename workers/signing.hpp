// The signatures of a delivery (delivery.md §2) and the keys that they are made with. Pure.
#pragma once

#include <string>
#include <string_view>

namespace herald::workers {

/// "v1,<base64>": Standard Webhooks' HMAC-SHA256 over "{id}.{timestamp}.{body}".
std::string standard_signature(std::string_view secret, std::string_view signed_text);
/// "v1a,<base64>": Standard Webhooks' ed25519 over the same.
std::string asymmetric_signature(std::string_view seed, std::string_view signed_text);
/// "sha256=<hex>" over the body, keyed with the secret's text as configured, as receivers check GitHub's.
std::string github_signature(std::string_view secret, std::string_view body);
/// The key in "whsec_<base64>" if it is 24 to 64 bytes long; otherwise the bytes of the text itself.
std::string signing_key(std::string_view secret);

}  // namespace herald::workers
