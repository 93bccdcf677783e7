// The console's pages: each is the same index.html, whose script draws what the address says. A page has a
// row of its own, so that a mistyped address stays a 404 in JSON.
#include <string>

#include "api/calls/public_call.hpp"
#include "api/calls/rows.hpp"
#include "api/console/assets.hpp"
#include "api/console/limits.hpp"
#include "api/console/routes.hpp"
#include "runtime/inflated.hpp"

namespace herald::api::console {
namespace {

using calls::route;
using runtime::http::http_response;

/// style-src allows no attribute of HTML, which is why scripts set styles one by one.
constexpr std::string_view page_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types console";

constexpr std::string_view assets_path = "/console/assets/";

bool takes_gzip(const runtime::http::server::request& received) {
    return received.header("accept-encoding").value_or("").find("gzip") != std::string_view::npos;
}

/// Errors: internal, of a file that was damaged in the program.
result<http_response> answer(const asset& file, const runtime::http::server::request& received,
                             std::string_view cache_control) {
    http_response out;
    out.headers = {{"cache-control", std::string(cache_control)},
                   {"etag", std::string(file.etag)},
                   {"vary", "accept-encoding"},
                   {"content-security-policy", std::string(page_policy)},
                   {"x-frame-options", "DENY"},
                   {"cross-origin-opener-policy", "same-origin"},
                   {"cross-origin-resource-policy", "same-origin"},
                   {"referrer-policy", "no-referrer"},
                   {"permissions-policy", "camera=(), geolocation=(), microphone=()"}};
    out.content_type = file.content_type;
    if (received.header("if-none-match") == file.etag) {
        out.status = 304;
        return out;
    }
    if (takes_gzip(received)) {
        out.headers.push_back({"content-encoding", "gzip"});
        out.body = file.gzip;
        return out;
    }
    auto plain = runtime::inflated(file.gzip, limits::console_asset_bytes_max);
    if (!plain) return plain.error();
    out.body = *std::move(plain);
    return out;
}

result<http_response> get_page(const calls::public_call& call) {
    return answer(assets().front(), call.received, "no-cache");
}

result<http_response> get_asset(const calls::public_call& call) {
    const std::string_view name = call.received.path.substr(assets_path.size());
    for (const asset& each : assets().subspan(1))
        if (each.name == name) return answer(each, call.received, "public, max-age=31536000, immutable");
    return runtime::not_found({"this version of Herald has no file \"", name, "\"; load the page again"});
}

constexpr route page(std::string_view name, std::string_view pattern) {
    route row = calls::rows::open(name, pattern, get_page, nullptr, "A page of the console");
    row.is_page = true;
    return row;
}
constexpr route file(std::string_view name, std::string_view pattern) {
    route row = calls::rows::open(name, pattern, get_asset, nullptr, "A file of the console");
    row.is_page = true;
    return row;
}

const route page_table[] = {
    file("console_asset", "/console/assets/{name}"),
    page("page_start", "/"),
    page("page_sign_in", "/sign-in"),
    page("page_me", "/me"),
    page("page_inbox", "/inbox"),
    page("page_overview", "/w/{ws}"),
    page("page_models", "/w/{ws}/models"),
    page("page_model", "/w/{ws}/models/{model}"),
    page("page_version", "/w/{ws}/models/{model}/{version}"),
    page("page_compare", "/w/{ws}/models/{model}/{version}/compare"),
    page("page_compare_with", "/w/{ws}/models/{model}/{version}/compare/{other}"),
    page("page_builds", "/w/{ws}/builds"),
    page("page_build", "/w/{ws}/builds/{build}"),
    page("page_endpoints", "/w/{ws}/endpoints"),
    page("page_endpoint", "/w/{ws}/endpoints/{path...}"),
    page("page_webhooks", "/w/{ws}/webhooks"),
    page("page_new_webhook", "/w/{ws}/webhooks-new"),
    page("page_webhook", "/w/{ws}/webhooks/{name}"),
    page("page_people", "/people/{part}"),
    page("page_person", "/people/{part}/{id}"),
    page("page_audit", "/audit"),
    page("page_system", "/system/{part}"),
    page("page_reference", "/reference"),
    page("page_operation", "/reference/{operation}"),
};

}  // namespace

std::span<const calls::route> page_routes() { return page_table; }

}  // namespace herald::api::console
