// A find's question, without its page, as one text: a page_token is valid only for the same question.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/binary.hpp"
#include "schemas/find.hpp"

namespace herald::storage::registry::find {
namespace detail {

inline void add_to_question(std::string& out, std::string_view text) {
    schemas::append_big_endian(out, std::uint64_t{text.size()});
    out += text;
}
template <class Number>
    requires std::integral<Number> || std::is_enum_v<Number>
void add_to_question(std::string& out, Number number) {
    schemas::append_big_endian(out, static_cast<std::uint64_t>(number));
}
template <schemas::numeric_id Id>
void add_to_question(std::string& out, Id id) {
    schemas::append_big_endian(out, id.value);
}
template <class Part>
void add_to_question(std::string& out, const std::optional<Part>& part) {
    add_to_question(out, part.has_value());
    if (part) add_to_question(out, *part);
}
template <class Part>
void add_to_question(std::string& out, const std::vector<Part>& parts) {
    add_to_question(out, parts.size());
    for (const Part& part : parts) add_to_question(out, part);
}

}  // namespace detail

/// `kind`: what is searched.
template <class... Parts>
std::string question(std::string_view kind, const Parts&... parts) {
    std::string out(kind);
    (detail::add_to_question(out, parts), ...);
    return out;
}

/// Without its order, too, of which a page_token says what it was.
inline std::string question(std::string_view kind, schemas::find_request request) {
    request.pagination.reset();
    request.sort_key.clear();
    request.ascending = false;
    return question(kind, schemas::encode(request));
}

}  // namespace herald::storage::registry::find
