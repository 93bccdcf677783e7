// The headers of a delivery (delivery.md §2): what each is called and what it says. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/http/message.hpp"
#include "schemas/webhooks.hpp"

namespace herald::workers {

/// What the headers say. The texts must outlive the call.
struct delivery_description {
    std::string_view id;       // webhook-id: the same over attempts, resends and replays
    std::int64_t time_ms = 0;  // of this attempt, wall clock
    std::uint32_t attempt = 1;
    std::string_view body;                  // the exact bytes that will be sent
    std::vector<std::string_view> secrets;  // live ones, newest first; empty ones do not sign
    const schemas::event* event = nullptr;  // what the delivery tells of; never null
    bool test = false;
    std::vector<std::string_view> signing_seeds{};  // of ed25519 keys that sign, too
    std::vector<runtime::http::header> own{};       // of the webhook
    std::string_view content_type = "application/json";
};

/// content-type, user-agent, webhook-*, x-hub-signature-256, <prefix>*, ce-*, traceparent: everything but
/// what the transport adds. `prefix` is "svc-" unless configured.
std::vector<runtime::http::header> delivery_headers(const delivery_description&, std::string_view prefix);

/// The type of the event, or TEST.
std::string_view type_of(const delivery_description&);

/// CloudEvents' structured mode: the event's attributes, and the body of binary mode as `data`.
std::string structured_body(const delivery_description&);

/// One "name: value" a line, for the history. Without the values of signatures, so that nobody can try
/// secrets on them, and of the headers `own`.
std::string headers_without_secrets(const std::vector<runtime::http::header>&,
                                    std::span<const runtime::http::header> own = {});

}  // namespace herald::workers
