#include "api/key_set.hpp"

#include "runtime/crypto.hpp"
#include "runtime/signing.hpp"
#include "schemas/answers/operations.hpp"

namespace herald::api {
namespace {

/// RFC 4648 §5, without padding.
std::string to_base64url(std::string_view bytes) {
    std::string text = runtime::to_base64(bytes);
    while (text.ends_with('=')) text.pop_back();
    for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
    return text;
}

}  // namespace

std::string key_set_of(const runtime::key_ring& ring) {
    schemas::answers::key_set all;
    for (const runtime::key_ring::webhook_key& each : ring.webhook_keys())
        all.keys.push_back({"OKP", "Ed25519", to_base64url(runtime::signing_public_key(each.seed)), each.name,
                            "EdDSA", "sig"});
    return schemas::answers::text_of(all);
}

}  // namespace herald::api
