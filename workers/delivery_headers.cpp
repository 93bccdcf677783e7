// Standard Webhooks, GitHub's way of signing, CloudEvents' binary mode, and Herald's own.
#include "workers/delivery_headers.hpp"

#include "runtime/assert.hpp"
#include "runtime/text.hpp"
#include "workers/signing.hpp"

namespace herald::workers {

namespace {

using runtime::http::header;

constexpr std::string_view standard_signature_header = "webhook-signature";
constexpr std::string_view github_signature_header = "x-hub-signature-256";

/// Visible ASCII, which the value of a header carries as it is.
bool is_visible(char c) { return c > 0x20 && c < 0x7f; }

std::string as_name(std::string_view text) {
    return runtime::percent_encoded(text, [](char c) { return is_visible(c) && c != '%'; });
}

/// CloudEvents HTTP binding §3.1.3.2.
std::string as_cloud_event_value(std::string_view text) {
    return runtime::percent_encoded(text, [](char c) { return is_visible(c) && c != '"' && c != '%'; });
}

/// What is encoded already stays as it is.
std::string as_url(std::string_view text) {
    return runtime::percent_encoded(text,
                                    [](char c) { return is_visible(c) && c != '"' && c != '<' && c != '>'; });
}

void add_signatures(const delivery_description& delivery, const std::string& timestamp,
                    std::vector<header>& out) {
    std::string signed_text(delivery.id);
    signed_text.append(".").append(timestamp).append(".").append(delivery.body);
    std::string standard;
    std::string_view newest;
    for (const std::string_view secret : delivery.secrets) {
        if (secret.empty()) continue;
        if (newest.empty()) newest = secret;
        if (!standard.empty()) standard += ' ';
        standard += standard_signature(secret, signed_text);
    }
    if (newest.empty()) return;
    out.push_back({std::string(standard_signature_header), std::move(standard)});
    out.push_back({std::string(github_signature_header), github_signature(newest, delivery.body)});
}

void add_cloud_event(const schemas::event& event, std::string_view type, std::vector<header>& out) {
    const std::string_view resource_type = name_of(event.resource_type);
    std::string source = "/workspaces/" + std::to_string(event.workspace_id.value);
    if (!resource_type.empty()) source += "/" + runtime::to_lower(resource_type);
    out.push_back({"ce-specversion", "1.0"});
    out.push_back({"ce-id", as_cloud_event_value(event.id)});
    out.push_back({"ce-source", std::move(source)});
    out.push_back({"ce-type", "herald." + runtime::to_lower(type)});
    out.push_back({"ce-time", runtime::iso8601_ms(event.time_ms)});
    if (!event.resource_id.empty()) out.push_back({"ce-subject", as_cloud_event_value(event.resource_id)});
}

}  // namespace

std::vector<header> delivery_headers(const delivery_description& delivery, std::string_view prefix) {
    HERALD_ASSERT(delivery.event != nullptr);
    const schemas::event& event = *delivery.event;
    const std::string own(prefix);
    const std::string timestamp = std::to_string(delivery.time_ms / 1'000);
    const std::string_view type = delivery.test ? "TEST" : name_of(event.type);
    const std::string_view resource_type = name_of(event.resource_type);

    std::vector<header> out;
    out.push_back({"content-type", "application/json"});
    out.push_back({"user-agent", "herald/" HERALD_VERSION});
    out.push_back({"webhook-id", std::string(delivery.id)});
    out.push_back({"webhook-timestamp", timestamp});
    add_signatures(delivery, timestamp, out);
    out.push_back({own + "event-id", event.id});
    out.push_back({own + "event-type", std::string(type)});
    out.push_back({own + "event-time", runtime::iso8601_ms(event.time_ms)});
    if (!resource_type.empty()) out.push_back({own + "resource-type", std::string(resource_type)});
    if (!event.workspace_name.empty()) out.push_back({own + "workspace", as_name(event.workspace_name)});
    if (!event.report_url.empty()) out.push_back({own + "report-url", as_url(event.report_url)});
    out.push_back({own + "attempt", std::to_string(delivery.attempt)});
    out.push_back({own + "sequence", std::to_string(event.resource_sequence)});
    if (delivery.test) out.push_back({own + "test", "true"});
    add_cloud_event(event, type, out);
    if (runtime::is_traceparent(event.traceparent)) out.push_back({"traceparent", event.traceparent});
    return out;
}

std::string headers_without_secrets(const std::vector<header>& headers) {
    std::string text;
    for (const auto& [name, value] : headers) {
        const bool signature = name == standard_signature_header || name == github_signature_header;
        text.append(name).append(": ").append(signature ? "(left out)" : value).append("\n");
    }
    return text;
}

}  // namespace herald::workers
