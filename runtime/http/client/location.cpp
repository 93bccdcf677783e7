// A deliberately small URL parser: it refuses what it does not know, so that no two readers of a location can
// disagree about where it leads.
#include "runtime/http/client/location.hpp"

#include <algorithm>

#include "runtime/limits.hpp"
#include "runtime/text.hpp"

namespace herald::runtime::http::client {

namespace {

using runtime::invalid_argument;

constexpr std::size_t name_bytes_max = 253;  // RFC 1035 §3.1, without the trailing dot
constexpr std::size_t label_bytes_max = 63;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }
bool is_name_char(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '_'; }

/// What inet_aton and browsers would read as an address: a last label of decimal digits, or of hex digits
/// after 0x.
bool reads_as_number(std::string_view host) {
    const auto dot = host.rfind('.');
    std::string_view label = dot == std::string_view::npos ? host : host.substr(dot + 1);
    if (label.starts_with("0x")) return std::all_of(label.begin() + 2, label.end(), is_lower_hex);
    return !label.empty() && std::all_of(label.begin(), label.end(), is_digit);
}

result<void> check_name(std::string_view name) {
    if (name.size() > name_bytes_max) return invalid_argument("the host name is longer than 253 bytes");
    std::string_view rest = name;
    while (true) {
        const auto dot = std::min(rest.find('.'), rest.size());
        const std::string_view label = rest.substr(0, dot);
        if (label.empty())
            return invalid_argument("the host name has an empty part; write it as hooks.example.com");
        if (label.size() > label_bytes_max)
            return invalid_argument("a part of the host name is longer than 63 bytes");
        if (label.front() == '-' || label.back() == '-') {
            return invalid_argument("a part of the host name begins or ends with '-'");
        }
        if (dot == rest.size()) return {};
        rest.remove_prefix(dot + 1);
    }
}

result<void> read_literal_v6(std::string_view inside, location& out) {
    if (inside.find('%') != std::string_view::npos) {
        return invalid_argument("an address with a zone (%…) is refused; leave the zone out");
    }
    const auto address = ip_address::parse(inside);
    if (!address || address->kind != ip_address::family::v6) {
        return invalid_argument(
            "there is no IPv6 address between the brackets; write https://[2001:4860:4860::8888]/");
    }
    out.literal = address;
    out.host = address->text();
    return {};
}

result<void> read_host(std::string_view text, location& out) {
    if (text.empty()) return invalid_argument("there is no host; write https://hooks.example.com/path");
    if (text.front() == '[') return read_literal_v6(text.substr(1, text.size() - 2), out);
    std::string host = runtime::to_lower(text);
    for (const char c : host) {
        if (c == '%') return invalid_argument("a percent-encoded host is refused; write the name itself");
        if (static_cast<unsigned char>(c) >= 0x80) {
            return invalid_argument(
                "a host name is written in ASCII; give its IDNA form, as in xn--bcher-kva.example");
        }
        if (c != '.' && !is_name_char(c)) {
            return invalid_argument("a host name has letters, digits, '-', '_' and dots only");
        }
    }
    if (host.back() == '.') host.pop_back();
    if (reads_as_number(host)) {
        const auto address = ip_address::parse(host);
        if (!address) {
            return invalid_argument(
                {"'", host,
                 "' would be read as an address in decimal, octal or hex; write an IPv4 address as "
                 "four decimal numbers without leading zeros"});
        }
        out.literal = address;
    } else if (const auto name = check_name(host); !name) {
        return name.error();
    }
    out.host = std::move(host);
    return {};
}

result<void> read_port(std::string_view text, location& out) {
    const auto port = runtime::parse_decimal(text);
    const bool allowed = port && (*port == 80 || *port == 443 || (*port >= 1024 && *port <= 65535));
    if (!allowed)
        return invalid_argument({"port '", text, "' is refused; there are 80, 443 and 1024 to 65535"});
    out.port = static_cast<std::uint16_t>(*port);
    return {};
}

result<void> read_authority(std::string_view text, location& out) {
    if (text.find('@') != std::string_view::npos) {
        return invalid_argument(
            "a user name or password in the URL is refused; the receiver checks the signature instead");
    }
    std::size_t host_end = std::min(text.find(':'), text.size());
    if (text.starts_with('[')) {
        const auto bracket = text.find(']');
        if (bracket == std::string_view::npos)
            return invalid_argument("the bracket before the IPv6 address is not closed");
        host_end = bracket + 1;
    }
    if (const auto host = read_host(text.substr(0, host_end), out); !host) return host.error();
    const std::string_view rest = text.substr(host_end);
    if (rest.empty()) return {};
    if (rest.front() != ':')
        return invalid_argument("after the IPv6 address only a port may follow, as in [2001:db8::1]:8443");
    return read_port(rest.substr(1), out);
}

result<std::string_view> read_scheme(std::string_view url, plain_http http, location& out) {
    const std::string start = runtime::to_lower(url.substr(0, std::string_view("https://").size()));
    if (start == "https://") return url.substr(start.size());
    if (!start.starts_with("http://")) {
        return invalid_argument({"a URL begins with https://",
                                 (http == plain_http::allowed ? " or http://" : ""),
                                 ", as in https://hooks.example.com/path"});
    }
    if (http == plain_http::refused) {
        return invalid_argument(
            "http is refused here because anybody on the way could read it; use https, or start Herald "
            "with --allow-http");
    }
    out.tls = false;
    out.port = 80;
    return url.substr(std::string_view("http://").size());
}

}  // namespace

std::string location::authority() const {
    const bool bracketed = literal && literal->kind == ip_address::family::v6;
    std::string text = bracketed ? "[" + host + "]" : host;
    if (port != (tls ? 443 : 80)) text += ":" + std::to_string(port);
    return text;
}

result<location> parse_location(std::string_view url, plain_http http, const address_policy& policy) {
    if (url.size() > limits::url_bytes_max) return invalid_argument("the URL is longer than 2048 bytes");
    location out;
    const auto after_scheme = read_scheme(url, http, out);
    if (!after_scheme) return after_scheme.error();
    const std::string_view rest = *after_scheme;
    if (rest.find('#') != std::string_view::npos)
        return invalid_argument("a fragment (#…) is refused; it is never sent");

    const std::size_t authority_end = std::min(rest.find_first_of("/?"), rest.size());
    if (const auto read = read_authority(rest.substr(0, authority_end), out); !read) return read.error();
    const std::string_view target = rest.substr(authority_end);
    const bool visible =
        std::all_of(target.begin(), target.end(), [](char c) { return c > 0x20 && c < 0x7f; });
    if (!visible)
        return invalid_argument(
            "the path or query has a space or a byte that is not ASCII; percent-encode it");
    out.target = (target.starts_with('/') ? "" : "/") + std::string(target);

    if (out.literal) {
        if (const auto verdict = policy.judge(*out.literal); !verdict.allowed)
            return invalid_argument(verdict.reason);
    }
    return out;
}

}  // namespace herald::runtime::http::client
