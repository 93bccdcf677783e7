#include "runtime/http/server/head_rules.hpp"

#include <algorithm>

#include "runtime/text.hpp"

namespace herald::runtime::http::server {
namespace {

bool is_visible(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x21 && c <= 0x7E && c != '#'; });
}

}  // namespace

bool has_folded_line(std::string_view head) noexcept {
    for (std::size_t at = head.find('\n'); at + 1 < head.size(); at = head.find('\n', at + 1))
        if (head[at + 1] == ' ' || head[at + 1] == '\t') return true;
    return false;
}

bool has_bare_line_end(std::string_view head) noexcept {
    for (std::size_t at = head.find('\n'); at != head.npos; at = head.find('\n', at + 1))
        if (at == 0 || head[at - 1] != '\r') return true;
    for (std::size_t at = head.find('\r'); at != head.npos && at + 1 < head.size();
         at = head.find('\r', at + 1))
        if (head[at + 1] != '\n') return true;
    return false;
}

bool ends_in_bare_line_feed(std::string_view unread) noexcept {
    if (unread.starts_with("\r\n")) unread.remove_prefix(2);
    const std::size_t end = unread.find('\n');
    return end != unread.npos && (end == 0 || unread[end - 1] != '\r');
}

std::optional<http_method> known_method(std::string_view name) noexcept {
    using enum http_method;
    for (const http_method each : {get, head, post, put, patch, delete_, options, trace, query})
        if (name_of(each) == name) return each;
    return std::nullopt;
}

bool is_host(std::string_view text) noexcept {
    std::string_view name = text;
    if (const std::size_t colon = text.rfind(':'); colon != text.npos && text.find(']', colon) == text.npos) {
        const std::string_view port = text.substr(colon + 1);
        name = text.substr(0, colon);
        if (port.size() > 5 ||
            !std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; }))
            return false;
    }
    if (name.empty()) return false;
    if (name.starts_with('[')) {
        return name.ends_with(']') && name.size() > 2 &&
               name.substr(1, name.size() - 2).find_first_not_of("0123456789abcdefABCDEFvV.:") == name.npos;
    }
    return std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("-._~%!$&'()*+,;=").find(c) != std::string_view::npos;
    });
}

std::optional<std::string_view> path_and_query(std::string_view target, bool is_options) noexcept {
    if (!is_visible(target)) return std::nullopt;
    if (target.starts_with('/') || (target == "*" && is_options)) return target;
    const std::size_t colon = target.find("://");
    if (colon == target.npos) return std::nullopt;
    const std::string_view scheme = target.substr(0, colon);
    if (!runtime::equals_ignoring_case(scheme, "http") && !runtime::equals_ignoring_case(scheme, "https"))
        return std::nullopt;
    const std::string_view rest = target.substr(colon + 3);
    const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
    if (!is_host(rest.substr(0, end))) return std::nullopt;
    return rest.substr(end);
}

}  // namespace herald::runtime::http::server
