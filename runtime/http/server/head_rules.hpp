// What the head of a request must be beyond what the parser of its lines checks (http.md §2). Pure functions.
#pragma once

#include <optional>
#include <string_view>

namespace herald::runtime::http::server {

/// RFC 9112 §5.2: a line that begins with a space or tab goes on with the field before it.
bool has_folded_line(std::string_view head) noexcept;

/// Lines end with CR LF; a header that does not is refused before the end that it may never have.
bool has_bare_line_end(std::string_view head) noexcept;

/// RFC 9112 §3.2: uri-host [ ":" port ].
bool is_host(std::string_view text) noexcept;

/// RFC 9112 §3.2: what of the target stands after scheme and authority; nothing when it is none of its forms.
/// "*" is one for OPTIONS only. Whom the authority names does not matter, as with Host.
std::optional<std::string_view> path_and_query(std::string_view target, bool is_options) noexcept;

}  // namespace herald::runtime::http::server
