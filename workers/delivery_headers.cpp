// Standard Webhooks, GitHub's way of signing, CloudEvents' binary mode, and Herald's own.
#include "workers/delivery_headers.hpp"

#include <utility>

#include "runtime/assert.hpp"
#include "runtime/text.hpp"
#include "runtime/version.hpp"
#include "schemas/delivery_headers.hpp"
#include "workers/signing.hpp"

namespace herald::workers {

namespace {

using runtime::http::header;
using kind = schemas::delivery_header;

/// Adds headers by what they are; schemas/delivery_headers.hpp names them.
class header_list {
  public:
    explicit header_list(std::string_view prefix) : x_prefix(prefix) {}
    void add(schemas::delivery_header which, std::string value) {
        all.push_back({schemas::name_of(which, x_prefix), std::move(value)});
    }

    std::vector<header> all;

  private:
    std::string_view x_prefix;
};

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

void add_signatures(const delivery_description& delivery, const std::string& timestamp, header_list& out) {
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
    out.add(kind::webhook_signature, std::move(standard));
    out.add(kind::github_signature, github_signature(newest, delivery.body));
}

void add_cloud_event(const schemas::event& event, std::string_view type, header_list& out) {
    const std::string_view resource_type = name_of(event.resource_type);
    std::string source = "/workspaces/" + std::to_string(event.workspace_id.value);
    if (!resource_type.empty()) source += "/" + runtime::to_lower(resource_type);
    out.add(kind::cloud_specversion, "1.0");
    out.add(kind::cloud_id, as_cloud_event_value(event.id));
    out.add(kind::cloud_source, std::move(source));
    out.add(kind::cloud_type, "herald." + runtime::to_lower(type));
    out.add(kind::cloud_time, runtime::iso8601_ms(event.time_ms));
    if (!event.resource_id.empty()) out.add(kind::cloud_subject, as_cloud_event_value(event.resource_id));
}

}  // namespace

std::vector<header> delivery_headers(const delivery_description& delivery, std::string_view prefix) {
    HERALD_ASSERT(delivery.event != nullptr);
    const schemas::event& event = *delivery.event;
    const std::string timestamp = std::to_string(delivery.time_ms / 1'000);
    const std::string_view type = delivery.test ? "TEST" : name_of(event.type);
    const std::string_view resource_type = name_of(event.resource_type);

    header_list out(prefix);
    out.all.push_back({"content-type", "application/json"});
    out.all.push_back({"user-agent", "herald/" + std::string(runtime::version())});
    out.add(kind::id_of_delivery, std::string(delivery.id));
    out.add(kind::webhook_timestamp, timestamp);
    add_signatures(delivery, timestamp, out);
    out.add(kind::id_of_event, event.id);
    out.add(kind::event_type, std::string(type));
    out.add(kind::event_time, runtime::iso8601_ms(event.time_ms));
    if (!resource_type.empty()) out.add(kind::resource_type, std::string(resource_type));
    if (!event.workspace_name.empty()) out.add(kind::workspace, as_name(event.workspace_name));
    if (!event.report_url.empty()) out.add(kind::report_url, as_url(event.report_url));
    out.add(kind::attempt, std::to_string(delivery.attempt));
    out.add(kind::sequence, std::to_string(event.resource_sequence));
    if (delivery.test) out.add(kind::test, "true");
    add_cloud_event(event, type, out);
    if (runtime::is_traceparent(event.traceparent)) out.add(kind::traceparent, event.traceparent);
    return std::move(out.all);
}

std::string headers_without_secrets(const std::vector<header>& headers) {
    const std::string standard = schemas::name_of(kind::webhook_signature, {});
    const std::string github = schemas::name_of(kind::github_signature, {});
    std::string text;
    for (const auto& [name, value] : headers) {
        const bool signature = name == standard || name == github;
        text.append(name).append(": ").append(signature ? "(left out)" : value).append("\n");
    }
    return text;
}

}  // namespace herald::workers
