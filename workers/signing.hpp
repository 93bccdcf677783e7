// The headers of a delivery, including its signatures (delivery.md §2). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/http/message.hpp"
#include "schemas/webhooks.hpp"

namespace herald::workers {

/// What the headers contain. The texts must outlive the call.
struct delivery_description {
    std::string_view id;       // webhook-id: the same for all attempts, resends and replays
    std::int64_t time_ms = 0;  // of this attempt, wall clock
    std::uint32_t attempt = 1;
    std::string_view body;                  // the exact bytes that will be sent
    std::vector<std::string_view> secrets;  // live ones, newest first; empty ones are skipped
    const schemas::event* event = nullptr;  // what the delivery reports; never null
    bool test = false;
};

/// content-type, user-agent, webhook-*, x-hub-signature-256, <prefix>*, ce-*, traceparent: everything except
/// what the transport adds. `prefix` is "svc-" unless configured.
std::vector<runtime::http::header> delivery_headers(const delivery_description&, std::string_view prefix);

/// "v1,<base64>": Standard Webhooks' HMAC-SHA256 over "{id}.{timestamp}.{body}".
std::string standard_signature(std::string_view secret, std::string_view signed_text);
/// "sha256=<hex>" over the body, keyed with the secret's text as configured, as receivers check GitHub's.
std::string github_signature(std::string_view secret, std::string_view body);
/// The key in "whsec_<base64>" if it is 24 to 64 bytes long; otherwise the bytes of the text itself.
std::string signing_key(std::string_view secret);

/// One "name: value" per line, for the history; signatures by name only, so that nobody can test secrets
/// against them.
std::string headers_without_secrets(const std::vector<runtime::http::header>&);

}  // namespace herald::workers
