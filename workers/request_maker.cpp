#include "workers/request_maker.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "workers/delivery_headers.hpp"
#include "workers/limits.hpp"

namespace herald::workers {

namespace {

/// Newest first; empty ones do not sign.
struct live_secrets {
    std::string newest;
    std::string earlier;
};

result<std::string> unsealed(const runtime::key_ring& keys, const std::string& binding,
                             const std::string& sealed) {
    return sealed.empty() ? result<std::string>(std::string()) : keys.unseal(binding, sealed);
}

result<live_secrets> secrets_of(const schemas::subscriber& row, const request_parts& parts) {
    live_secrets live;
    auto newest = unsealed(parts.keys, row.seal_binding, row.sealed_secret);
    if (!newest) return newest.error();
    live.newest = *std::move(newest);
    const schemas::earlier_secret& before = row.earlier_secret;
    if (before.until_ms <= parts.log_ms) return live;
    auto earlier = unsealed(parts.keys, before.seal_binding, before.sealed_secret);
    if (!earlier) return earlier.error();
    live.earlier = *std::move(earlier);
    return live;
}

result<std::vector<runtime::http::header>> own_headers(const schemas::subscriber& row,
                                                       const request_parts& parts) {
    std::vector<runtime::http::header> all;
    for (const schemas::webhook_header& each : row.headers) {
        auto value = parts.keys.unseal(each.seal_binding, each.sealed_value);
        if (!value) return value.error();
        all.push_back({each.name, *std::move(value)});
    }
    return all;
}

}  // namespace

result<made_request> make_request(const delivery_of_event& what, const schemas::subscriber& row,
                                  const request_parts& parts) {
    const auto secrets = secrets_of(row, parts);
    if (!secrets) return secrets.error();
    auto own = own_headers(row, parts);
    if (!own) return own.error();
    std::vector<runtime::key_ring::webhook_key> signing;
    if (row.settings.delivery.asymmetric) signing = parts.keys.webhook_keys();

    delivery_description described;
    described.id = what.record.id;
    described.time_ms = parts.wall_ms;
    described.attempt = what.record.attempts_before + what.record.attempts_made + 1;
    described.event = what.event.get();
    described.test = what.record.source == schemas::delivery_source::test;
    described.secrets = {secrets->newest, secrets->earlier};
    for (const auto& key : signing) described.signing_seeds.push_back(key.seed);
    described.own = *std::move(own);

    made_request made;
    made.request.body = std::shared_ptr<const std::string>(what.event, &what.event->body);
    if (row.settings.delivery.content_mode == schemas::content_mode::structured) {
        made.request.body = std::make_shared<const std::string>(structured_body(described));
        described.content_type = "application/cloudevents+json";
    }
    described.body = *made.request.body;
    made.request.webhook_id = row.webhook_id;
    made.request.location = row.settings.location;
    made.request.headers = delivery_headers(described, parts.header_prefix);
    if (row.settings.delivery.timeout_ms != 0) made.request.deadline_ms = row.settings.delivery.timeout_ms;
    made.request.connect_ms_max = std::min(made.request.connect_ms_max, made.request.deadline_ms);
    made.headers_for_history = headers_without_secrets(made.request.headers, described.own);
    return made;
}

}  // namespace herald::workers
