// Standard Webhooks, GitHub's way of signing, CloudEvents' binary mode, and Herald's own.
#include "workers/delivery_headers.hpp"

#include <algorithm>
#include <utility>

#include "runtime/assert.hpp"
#include "runtime/text.hpp"
#include "schemas/delivery_headers.hpp"
#include "schemas/json.hpp"
#include "workers/signing.hpp"

namespace herald::workers {

namespace {

using runtime::http::header;
using kind = schemas::delivery_header;

constexpr std::string_view cloud_version = "1.0";

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
    for (const std::string_view seed : delivery.signing_seeds)
        standard += (standard.empty() ? "" : " ") + asymmetric_signature(seed, signed_text);
    if (!standard.empty()) out.add(kind::webhook_signature, std::move(standard));
    if (!newest.empty()) out.add(kind::github_signature, github_signature(newest, delivery.body));
}

/// The attributes of a CloudEvent.
struct cloud_event {
    std::string source;
    std::string type;
    std::string time;
};
cloud_event cloud_event_of(const delivery_description& delivery) {
    const schemas::event& event = *delivery.event;
    const std::string_view resource_type = name_of(event.resource_type);
    std::string source = "/workspaces/" + std::to_string(event.workspace_id.value);
    if (!resource_type.empty()) source += "/" + runtime::to_lower(resource_type);
    return {std::move(source), "herald." + runtime::to_lower(type_of(delivery)),
            runtime::iso8601_ms(event.time_ms)};
}

void add_cloud_event(const delivery_description& delivery, header_list& out) {
    const schemas::event& event = *delivery.event;
    cloud_event made = cloud_event_of(delivery);
    out.add(kind::cloud_specversion, std::string(cloud_version));
    out.add(kind::cloud_id, as_cloud_event_value(event.id));
    out.add(kind::cloud_source, std::move(made.source));
    out.add(kind::cloud_type, std::move(made.type));
    out.add(kind::cloud_time, std::move(made.time));
    if (!event.resource_id.empty()) out.add(kind::cloud_subject, as_cloud_event_value(event.resource_id));
}

}  // namespace

std::vector<header> delivery_headers(const delivery_description& delivery, std::string_view prefix) {
    HERALD_ASSERT(delivery.event != nullptr);
    const schemas::event& event = *delivery.event;
    const std::string timestamp = std::to_string(delivery.time_ms / 1'000);
    const std::string_view resource_type = name_of(event.resource_type);

    header_list out(prefix);
    out.all.push_back({"content-type", std::string(delivery.content_type)});
    out.all.push_back({"user-agent", "herald/" HERALD_VERSION});
    out.add(kind::id_of_delivery, std::string(delivery.id));
    out.add(kind::webhook_timestamp, timestamp);
    add_signatures(delivery, timestamp, out);
    out.add(kind::id_of_event, event.id);
    out.add(kind::event_type, std::string(type_of(delivery)));
    out.add(kind::event_time, runtime::iso8601_ms(event.time_ms));
    if (!resource_type.empty()) out.add(kind::resource_type, std::string(resource_type));
    if (!event.workspace_name.empty()) out.add(kind::workspace, as_name(event.workspace_name));
    if (!event.report_url.empty()) out.add(kind::report_url, as_url(event.report_url));
    out.add(kind::attempt, std::to_string(delivery.attempt));
    out.add(kind::sequence, std::to_string(event.resource_sequence));
    if (delivery.test) out.add(kind::test, "true");
    add_cloud_event(delivery, out);
    if (runtime::is_traceparent(event.traceparent)) out.add(kind::traceparent, event.traceparent);
    out.all.insert(out.all.end(), delivery.own.begin(), delivery.own.end());
    return std::move(out.all);
}

std::string_view type_of(const delivery_description& delivery) {
    return delivery.test ? "TEST" : name_of(delivery.event->type);
}

std::string structured_body(const delivery_description& delivery) {
    HERALD_ASSERT(delivery.event != nullptr);
    const schemas::event& event = *delivery.event;
    const cloud_event made = cloud_event_of(delivery);
    schemas::object_writer out;
    out.text("specversion", cloud_version)
        .text("id", event.id)
        .text("source", made.source)
        .text("type", made.type)
        .text("time", made.time);
    if (!event.resource_id.empty()) out.text("subject", event.resource_id);
    return out.text("datacontenttype", "application/json").raw("data", event.body).finish();
}

std::string headers_without_secrets(const std::vector<header>& headers, std::span<const header> own) {
    const std::string standard = schemas::name_of(kind::webhook_signature, {});
    const std::string github = schemas::name_of(kind::github_signature, {});
    std::string text;
    for (const auto& [name, value] : headers) {
        const bool is_secret =
            name == standard || name == github || std::ranges::count(own, name, &header::name) > 0;
        text.append(name).append(": ").append(is_secret ? "(left out)" : value).append("\n");
    }
    return text;
}

}  // namespace herald::workers
