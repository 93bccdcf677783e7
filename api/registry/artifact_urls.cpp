#include "api/registry/artifact_urls.hpp"

#include "runtime/crypto.hpp"
#include "schemas/binary.hpp"

namespace herald::api::registry {
namespace {

constexpr std::string_view purpose = "artifact url";

error no_url_of_ours() {
    return runtime::permission_denied(
        "this URL was altered, or another installation made it; get a new one by getUrlForArtifact");
}

std::string with_log(std::string_view log, std::string_view said) {
    return std::string(log) + "\n" + std::string(said);
}

}  // namespace

signed_text text_of(artifact_url url, std::string_view log, const runtime::key_ring& keys) {
    url.key_name = keys.current_name();
    std::string said = runtime::to_hex(schemas::encode(url));
    auto signature = keys.sign(url.key_name, purpose, with_log(log, said));
    return {std::move(said), std::move(signature).value()};
}

result<artifact_url> read_url(const signed_text& text, url_use use, std::string_view log,
                              const runtime::key_ring& keys, std::int64_t now_ms) {
    const auto bytes = runtime::from_hex(text.said);
    if (!bytes) return no_url_of_ours();
    auto url = schemas::decode<artifact_url>(*bytes);
    if (!url) return no_url_of_ours();
    const auto signature = keys.sign(url->key_name, purpose, with_log(log, text.said));
    if (!signature || !runtime::constant_time_equal(*signature, text.signature)) return no_url_of_ours();
    if (url->is_put != (use == url_use::put))
        return runtime::permission_denied(
            {"this URL is for ", (url->is_put ? "PUT" : "GET"), "; get one for the method that you use"});
    if (url->expires_ms <= now_ms)
        return runtime::permission_denied("this URL has expired; get a new one by getUrlForArtifact");
    return *std::move(url);
}

}  // namespace herald::api::registry
