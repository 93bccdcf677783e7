#include "schemas/json_codec.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "runtime/text.hpp"
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
    return runtime::invalid_argument({path, " is ", text, "; it must be ", expected});
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

/// False for a text with zeros in front, as "007": the same number has only one text.
bool is_plain(const json_value& value) noexcept {
    const auto* text = value.get_if<std::string>();
    return !text || *text == "0" || !(text->starts_with('0') || text->starts_with("-0"));
}

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

/// The error for an integer that is too large or too small names the range.
error wrong_integer(std::string_view path, const json_value& found, std::int64_t least, std::uint64_t most) {
    std::string expected = least == 0 ? "an integer of 0 or more" : "an integer";
    if (is_integer(found))
        expected = "an integer from " + std::to_string(least) + " to " + std::to_string(most);
    return wrong_member(path, found, expected + " (a number or its decimal text, without leading zeros)");
}

template <class T>
void append_digits(std::string& out, T value, bool is_quoted) {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    if (is_quoted) out += '"';
    out.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
    if (is_quoted) out += '"';
}

}  // namespace

std::string member_path(std::string_view object, std::string_view name) {
    return object.empty() ? std::string(name) : std::string(object) + "." + std::string(name);
}

void json_writer::begin_member(std::string_view name) {
    if (!first) out += ',';
    first = false;
    out += '"';
    out += name;
    out += "\":";
}

void json_writer::write(bool value) { out += value ? "true" : "false"; }
void json_writer::write(double value) { append_json_number(out, value); }
void json_writer::write(const std::string& value) { runtime::append_json_string(out, value); }
void json_writer::write(const json_text& value) { out += value.text.empty() ? "null" : value.text; }

void json_writer::write_name(std::string_view name) {
    out += '"';
    out += name;
    out += '"';
}

void json_writer::write_signed(std::int64_t value, bool is_long) {
    append_digits(out, value, is_long && style == integers::as_strings);
}

void json_writer::write_unsigned(std::uint64_t value, bool is_long) {
    append_digits(out, value, is_long && style == integers::as_strings);
}

void json_writer::write_bytes(std::string_view bytes) {
    runtime::append_json_string(out, runtime::to_hex(bytes));
}

const json_value* json_reader::member(std::string_view name, shown mode) {
    if (failure || mode == shown::never) return nullptr;
    if (unknown) known_names.push_back(name);
    const json_value* found = object.find(name);
    if (!found) return nullptr;
    ++found_members;
    if (found->is_null() || mode == shown::read_only) return nullptr;
    where = member_path(path, name);
    return found;
}

void json_reader::add_unknown() {
    const json_object& members = *object.get_if<json_object>();
    if (failure || !unknown || found_members == members.size()) return;
    for (const auto& [name, value] : members) {
        if (unknown->found.size() == limits::unknown_members_max) return;
        if (unknown->which == unknown_told::not_at_default && is_default(value)) continue;
        if (std::ranges::find(known_names, name) != known_names.end()) continue;
        unknown->found.push_back({member_path(path, name), std::string(runtime::nearest(name, known_names))});
    }
}

void json_reader::fail(const json_value& found, std::string_view expected) {
    failure = wrong_member(where, found, expected);
}

void json_reader::read(const json_value& found, bool& value) {
    if (const bool* flag = found.get_if<bool>())
        value = *flag;
    else
        fail(found, "true or false");
}

void json_reader::read(const json_value& found, double& value) {
    if (const double* fraction = found.get_if<double>())
        value = *fraction;
    else if (const auto number = signed_of(found))
        value = static_cast<double>(*number);
    else
        fail(found, "a number");
}

void json_reader::read(const json_value& found, std::string& value) {
    if (const std::string* text = found.get_if<std::string>())
        value = *text;
    else
        fail(found, "a string");
}

void json_reader::read(const json_value& found, json_text& value) { value.text = to_json_text(found); }

std::optional<std::int64_t> json_reader::read_signed(const json_value& found, std::int64_t least,
                                                     std::int64_t most) {
    const auto number = signed_of(found);
    if (number && is_plain(found) && *number >= least && *number <= most) return number;
    failure = wrong_integer(where, found, least, static_cast<std::uint64_t>(most));
    return std::nullopt;
}

std::optional<std::uint64_t> json_reader::read_unsigned(const json_value& found, std::uint64_t most) {
    // The OpenAPI document says int64: no client need know a larger one.
    most = std::min<std::uint64_t>(most, std::numeric_limits<std::int64_t>::max());
    const auto number = unsigned_of(found);
    if (number && is_plain(found) && *number <= most) return number;
    failure = wrong_integer(where, found, 0, most);
    return std::nullopt;
}

std::optional<std::uint64_t> json_reader::read_name(const json_value& found,
                                                    std::span<const numbered_name> all) {
    const std::string* text = found.get_if<std::string>();
    const auto number = unsigned_of(found);
    for (const numbered_name& each : all)
        if (text && each.name == *text) return each.number;
    for (const numbered_name& each : all)
        if (number && each.number == *number) return each.number;
    std::string expected = "one of";
    for (const numbered_name& each : all)
        if (!each.name.empty()) expected += " " + std::string(each.name);
    fail(found, expected);
    return std::nullopt;
}

const json_array* json_reader::read_list(const json_value& found) {
    const json_array* items = found.get_if<json_array>();
    if (!items) {
        fail(found, "an array");
    } else if (items->size() > limits::json_list_elements_max) {
        failure = runtime::invalid_argument({where, " holds ", items->size(), " elements; at most ",
                                             limits::json_list_elements_max, " are allowed"});
        return nullptr;
    }
    return items;
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
