// The headers of a delivery (delivery.md §2): what each is called and what it says. Pure.
#pragma once

#include <cstdint>
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
};

/// content-type, user-agent, webhook-*, x-hub-signature-256, <prefix>*, ce-*, traceparent: everything but
/// what the transport adds. `prefix` is "svc-" unless configured.
std::vector<runtime::http::header> delivery_headers(const delivery_description&, std::string_view prefix);

/// One "name: value" a line, for the history; signatures only by name, so that nobody can try secrets on
/// them.
std::string headers_without_secrets(const std::vector<runtime::http::header>&);

}  // namespace herald::workers
