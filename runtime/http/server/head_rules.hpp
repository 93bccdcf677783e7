// Checks of a request's framing beyond those of the line parser (http.md §2). Pure functions.
#pragma once

#include <optional>
#include <string_view>

#include "runtime/http/message.hpp"

namespace herald::runtime::http::server {

/// RFC 9112 §5.2: a line that begins with a space or tab continues the previous field.
bool has_folded_line(std::string_view head) noexcept;

/// Lines must end with CR LF; a header with other line ends is refused before its end, which may never come.
bool has_bare_line_end(std::string_view head) noexcept;

/// Whether the line of a chunked body that begins there, behind the end of a chunk if one is there, ends in
/// LF alone. RFC 9112 §7.1 wants CR LF. Beast waits for a CR however many lines follow, and may take for the
/// line what the sender means as data.
bool ends_in_bare_line_feed(std::string_view unread) noexcept;

/// The methods that are known; of TRACE and QUERY it is also known that no resource has them, which is 405.
std::optional<http_method> known_method(std::string_view name) noexcept;

/// RFC 9112 §3.2: uri-host [ ":" port ].
bool is_host(std::string_view text) noexcept;

/// RFC 9112 §3.2: the part of the target after scheme and authority; empty when the target has none of the
/// allowed forms. "*" is allowed for OPTIONS only. As with Host, it does not matter which authority is named.
std::optional<std::string_view> path_and_query(std::string_view target, bool is_options) noexcept;

}  // namespace herald::runtime::http::server
