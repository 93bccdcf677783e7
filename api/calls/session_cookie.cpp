#include "api/calls/session_cookie.hpp"

#include <algorithm>

#include "runtime/text.hpp"

namespace herald::api::calls {
namespace {

using runtime::http::header;
using runtime::http::server::request;

constexpr std::string_view https_name = "__Host-herald";
constexpr std::size_t log_id_digits = 8;

/// Of several installations on one host, on different ports, each has a cookie of its own.
std::string http_name(std::string_view log_id) {
    return "herald-" + std::string(log_id.substr(0, log_id_digits));
}

/// "https://host:port" of a URL; browsers send an Origin in this form.
std::string_view origin_of(std::string_view url) {
    const std::size_t authority = url.find("://");
    if (authority == url.npos) return {};
    return url.substr(0, url.find('/', authority + 3));
}

/// Empty when the field was sent more than once.
std::optional<std::string_view> only_field(const request& received, std::string_view name) {
    std::optional<std::string_view> found;
    for (const auto& [each, value] : received.headers) {
        if (!runtime::equals_ignoring_case(each, name)) continue;
        if (found) return std::nullopt;
        found = value;
    }
    return found;
}

bool is_own_origin(const request& received, const address_of_node& here) {
    if (!received.header("origin")) return true;  // a GET of an own page has none
    const std::string_view origin = only_field(received, "origin").value_or("null");
    if (!here.public_url.empty() && runtime::equals_ignoring_case(origin, origin_of(here.public_url)))
        return true;
    const std::size_t authority = origin.find("://");
    const auto host = received.header("host");
    return authority != origin.npos && host && !host->empty() &&
           runtime::equals_ignoring_case(origin.substr(authority + 3), *host);
}

/// Whether this node is surely reached over HTTPS.
bool is_https(const address_of_node& here) {
    return here.public_url.empty() ? here.scheme == "https" : here.public_url.starts_with("https:");
}
bool is_https(const request& received, const address_of_node& here) {
    const auto origin = received.header("origin");
    return origin ? origin->starts_with("https:") : is_https(here);
}

std::optional<cookie_session> session_of(std::string_view value) {
    const std::size_t point = value.find('.');
    if (point == value.npos) return std::nullopt;
    const auto user = runtime::parse_plain_decimal(value.substr(0, point));
    if (!user || *user == 0 || point + 1 == value.size()) return std::nullopt;
    return cookie_session{schemas::user_id{*user}, std::string(value.substr(point + 1))};
}

/// The first cookie of this name in the request's Cookie fields.
std::optional<std::string_view> cookie_named(const request& received, std::string_view name) {
    for (const auto& [field, value] : received.headers) {
        if (!runtime::equals_ignoring_case(field, "cookie")) continue;
        for (std::string_view rest = value; !rest.empty();) {
            const std::string_view one = rest.substr(0, rest.find(';'));
            rest.remove_prefix(std::min(one.size() + 1, rest.size()));
            const std::string_view pair = runtime::trimmed(one);
            if (pair.starts_with(name) && pair.substr(name.size()).starts_with('='))
                return pair.substr(name.size() + 1);
        }
    }
    return std::nullopt;
}

header cookie(const request& received, const address_of_node& here, std::string_view log_id,
              std::string_view value, std::int64_t seconds) {
    const bool over_https = is_https(received, here);
    std::string text = over_https ? std::string(https_name) : http_name(log_id);
    text += "=" + std::string(value) + "; Path=/; Max-Age=" + std::to_string(seconds) +
            "; HttpOnly; SameSite=Strict";
    if (over_https) text += "; Secure";
    return {"set-cookie", std::move(text)};
}

}  // namespace

bool is_of_console(const request& received, const address_of_node& here) {
    return only_field(received, "herald-console") == "1" && is_own_origin(received, here);
}

std::optional<cookie_session> session_in_cookie(const request& received, const address_of_node& here,
                                                std::string_view log_id) {
    if (!received.header("cookie") || !is_of_console(received, here)) return std::nullopt;
    auto value = cookie_named(received, https_name);
    // Where HTTPS is sure, a cookie without __Host- may be one that somebody else has set.
    if (!value && !is_https(here)) value = cookie_named(received, http_name(log_id));
    return value ? session_of(*value) : std::nullopt;
}

header kept_cookie(const request& received, const address_of_node& here, std::string_view log_id,
                   const cookie_session& session, std::int64_t seconds) {
    return cookie(received, here, log_id, std::to_string(session.user.value) + "." + session.key, seconds);
}

header removed_cookie(const request& received, const address_of_node& here, std::string_view log_id) {
    return cookie(received, here, log_id, "", 0);
}

}  // namespace herald::api::calls
