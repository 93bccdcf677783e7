// JSON values: parsed by simdjson, kept in insertion order, written with shortest round-trip numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/error.hpp"

namespace herald::schemas {

class json_value;
using json_array = std::vector<json_value>;
using json_member = std::pair<std::string, json_value>;
/// Members in their original order.
using json_object = std::vector<json_member>;

/// An integer that does not fit into 64 bits, as it was written.
struct long_integer {
    std::string digits;
    friend bool operator==(const long_integer&, const long_integer&) = default;
};

class json_value {
  public:
    using storage = std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, long_integer,
                                 std::string, json_array, json_object>;

    json_value() = default;
    json_value(std::nullptr_t) {}
    json_value(bool value) : x_value(value) {}
    json_value(std::int64_t value) : x_value(value) {}
    json_value(std::uint64_t value) : x_value(value) {}
    json_value(double value) : x_value(value) {}
    json_value(long_integer value) : x_value(std::move(value)) {}
    json_value(std::string value) : x_value(std::move(value)) {}
    json_value(std::string_view value) : x_value(std::string(value)) {}
    json_value(const char* value) : x_value(std::string(value)) {}
    json_value(json_array value) : x_value(std::move(value)) {}
    json_value(json_object value) : x_value(std::move(value)) {}

    const storage& variant() const noexcept { return x_value; }
    bool is_null() const noexcept { return std::holds_alternative<std::nullptr_t>(x_value); }
    template <class T>
    const T* get_if() const noexcept {
        return std::get_if<T>(&x_value);
    }
    template <class T>
    T* get_if() noexcept {
        return std::get_if<T>(&x_value);
    }
    /// The member `name` of an object, or nullptr.
    const json_value* find(std::string_view name) const noexcept;
    /// "null", "a boolean", "a number", "a string", "an array", "an object": for error messages.
    std::string_view kind_text() const noexcept;

    friend bool operator==(const json_value&, const json_value&) = default;

  private:
    storage x_value = nullptr;
};

/// Parses the whole text as one JSON value (RFC 8259, UTF-8, depth ≤ limits::json_depth_max, no duplicate
/// member). An integer keeps its digits, however many; any other number becomes the nearest double.
/// invalid_argument says what is wrong, where, and what would be right.
result<json_value> parse_json(std::string_view text);
/// The same, of a body of a prediction: the words NaN, Infinity and -Infinity are numbers, too (wire.md §6).
result<json_value> parse_prediction_json(std::string_view text);
/// Compact. NaN and infinities are written as NaN, Infinity, -Infinity.
std::string to_json_text(const json_value&);
void append_json(std::string& out, const json_value&);
void append_json_number(std::string& out, double value);

/// Writes one JSON object member by member, in the order of the calls.
class object_writer {
  public:
    object_writer& text(std::string_view name, std::string_view value);
    object_writer& number(std::string_view name, std::uint64_t value);
    /// A 64-bit integer in the registry dialect: in quotes.
    object_writer& quoted_number(std::string_view name, std::uint64_t value);
    object_writer& flag(std::string_view name, bool value);
    /// `json` is JSON text already; an empty text becomes null.
    object_writer& raw(std::string_view name, std::string_view json);
    /// Adds the members of another object's text, without its braces.
    object_writer& members_of(std::string_view object_text);
    /// Returns the object's text; the writer must not be used afterwards.
    std::string finish();

  private:
    void start(std::string_view name);
    std::string x_out = "{";
};

/// "[a,b,c]", where `render` makes the JSON text of each element.
template <class Range, class Render>
std::string json_list(const Range& range, Render render) {
    std::string out = "[";
    for (const auto& element : range) {
        if (out.size() > 1) out += ',';
        out += render(element);
    }
    out += ']';
    return out;
}

}  // namespace herald::schemas
