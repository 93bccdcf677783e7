// The console's session as a browser keeps it: a cookie that no script can read. Browsers send cookies to all
// ports of a host, and a page of another port can post a form here. So the cookie counts only beside a header
// that such a page cannot add, and only for this node's own pages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/calls/services.hpp"
#include "runtime/http/server/request.hpp"
#include "schemas/ids.hpp"

namespace herald::api::calls {

struct cookie_session {
    schemas::user_id user;
    std::string key;
};

/// Empty unless the request has a cookie of this installation, the header `herald-console: 1`, and no Origin
/// but this node's own (`--public-url`, or the request's Host).
std::optional<cookie_session> session_in_cookie(const runtime::http::server::request&, const address_of_node&,
                                                std::string_view log_id);

/// Whether the request comes from a page of this node, as session_in_cookie demands.
bool is_of_console(const runtime::http::server::request&, const address_of_node&);

/// The Set-Cookie header that keeps the session for `seconds`. Over HTTPS, by the request's Origin or by the
/// node's own address, its name begins with __Host-.
runtime::http::header kept_cookie(const runtime::http::server::request&, const address_of_node&,
                                  std::string_view log_id, const cookie_session&, std::int64_t seconds);
/// The header that removes it.
runtime::http::header removed_cookie(const runtime::http::server::request&, const address_of_node&,
                                     std::string_view log_id);

}  // namespace herald::api::calls
