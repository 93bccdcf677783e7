#include "schemas/json_codec.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "schemas/limits.hpp"

namespace herald::schemas {

bool is_default(const json_value& value) noexcept {
    if (const auto* text = value.get_if<std::string>()) return text->empty() || *text == "0";
    if (const auto* flag = value.get_if<bool>()) return !*flag;
    if (const auto* items = value.get_if<json_array>()) return items->empty();
    if (const auto* members = value.get_if<json_object>()) return members->empty();
    return value.is_null() || detail::signed_of(value) == 0;
}

error wrong_member(std::string_view path, const json_value& found, std::string_view expected) {
    std::string text = to_json_text(found);
    if (text.size() > limits::json_shown_bytes_max) text = std::string(found.kind_text());
    return runtime::invalid_argument(std::string(path) + " is " + text + "; it must be " +
                                     std::string(expected));
}

std::optional<std::uint64_t> unsigned_of(const json_value& value) noexcept {
    if (const auto* text = value.get_if<std::string>()) return runtime::parse_decimal(*text);
    if (const auto* number = value.get_if<std::uint64_t>()) return *number;
    const auto number = detail::signed_of(value);
    if (!number || *number < 0) return std::nullopt;
    return static_cast<std::uint64_t>(*number);
}

namespace detail {
namespace {

constexpr double two_to_63 = 9223372036854775808.0;

/// A number or its decimal text, of whatever size.
bool is_integer(const json_value& value) {
    if (const auto* text = value.get_if<std::string>()) {
        const std::string_view digits = std::string_view(*text).substr(text->starts_with('-') ? 1 : 0);
        return !digits.empty() && is_plain(value) &&
               digits.find_first_not_of("0123456789") == std::string_view::npos;
    }
    if (const auto* fraction = value.get_if<double>()) return std::trunc(*fraction) == *fraction;
    return value.get_if<std::int64_t>() || value.get_if<std::uint64_t>() || value.get_if<long_integer>();
}

}  // namespace

error wrong_integer(std::string_view path, const json_value& found, std::int64_t least, std::uint64_t most) {
    std::string expected = least == 0 ? "an integer of 0 or more" : "an integer";
    if (is_integer(found))
        expected = "an integer from " + std::to_string(least) + " to " + std::to_string(most);
    return wrong_member(path, found, expected + " (a number or its decimal text, without leading zeros)");
}

error too_many_elements(std::string_view path, std::size_t count) {
    return runtime::invalid_argument(std::string(path) + " holds " + std::to_string(count) +
                                     " elements; at most " + std::to_string(limits::json_list_elements_max) +
                                     " are allowed");
}

bool is_plain(const json_value& value) noexcept {
    const auto* text = value.get_if<std::string>();
    return !text || *text == "0" || !(text->starts_with('0') || text->starts_with("-0"));
}

std::string member_path(std::string_view object, std::string_view name) {
    return object.empty() ? std::string(name) : std::string(object) + "." + std::string(name);
}

void add_unknown(const json_value& object, std::string_view path, std::span<const std::string_view> known,
                 unknown_members& out) {
    for (const auto& [name, value] : *object.get_if<json_object>()) {
        if (out.found.size() == limits::unknown_members_max) return;
        if (out.which == unknown_told::not_at_default && is_default(value)) continue;
        if (std::find(known.begin(), known.end(), name) != known.end()) continue;
        out.found.push_back({member_path(path, name), std::string(runtime::nearest(name, known))});
    }
}

std::optional<std::int64_t> signed_of(const json_value& value) noexcept {
    if (const auto* number = value.get_if<std::int64_t>()) return *number;
    if (const auto* fraction = value.get_if<double>()) {
        if (std::trunc(*fraction) != *fraction || !(std::abs(*fraction) < two_to_63)) return std::nullopt;
        return static_cast<std::int64_t>(*fraction);
    }
    if (const auto* text = value.get_if<std::string>()) {
        std::int64_t parsed = 0;
        const char* end = text->data() + text->size();
        const auto [stop, failure] = std::from_chars(text->data(), end, parsed);
        if (!text->empty() && failure == std::errc{} && stop == end) return parsed;
    }
    return std::nullopt;
}

}  // namespace detail
}  // namespace herald::schemas
