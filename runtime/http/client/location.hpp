// The location of a webhook: which URLs are accepted, and their parts (delivery.md §5). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/error.hpp"
#include "runtime/http/client/address_policy.hpp"

namespace herald::runtime::http::client {

enum class plain_http : std::uint8_t { refused, allowed };

struct location {
    bool tls = true;
    /// Lower case, without trailing dot and brackets; the canonical text if it is an address.
    std::string host;
    std::optional<ip_address> literal;  // set if the host is an address
    std::uint16_t port = 443;
    std::string target;  // path and query as given; "/" when there is none

    /// As in the Host header: brackets around IPv6, and the port unless it is the scheme's default.
    std::string authority() const;
};

/// Accepts "https://host[:port][/path][?query]" of at most limits::url_bytes_max bytes, and http:// if
/// allowed. A name is accepted in its ASCII form only (xn--… for IDNA). A literal address is judged by the
/// policy; a name is not resolved. Errors: invalid_argument, saying what was wrong and what would be right.
result<location> parse_location(std::string_view url, plain_http, const address_policy&);

}  // namespace herald::runtime::http::client
