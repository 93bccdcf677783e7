#include "schemas/json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "runtime/limits.hpp"
#include "runtime/text.hpp"

namespace herald::schemas {
namespace {

constexpr double two_to_63 = 9223372036854775808.0;
constexpr std::size_t shown_bytes_max = 60;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
    return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '+' || c == '-' ||
           c == '.' || c == '_';
}

std::string shortened(std::string_view text) {
    if (text.size() <= shown_bytes_max) return std::string(text);
    std::size_t end = shown_bytes_max;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    return std::string(text.substr(0, end)) + "…";
}

/// Digits, at least one, at the front of `rest`.
bool take_digits(std::string_view& rest) {
    const std::size_t digits =
        static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), is_digit) - rest.begin());
    rest.remove_prefix(digits);
    return digits > 0;
}

enum class number_form : std::uint8_t { none, integer, fraction };

/// RFC 8259 §6.
number_form form_of(std::string_view token) {
    std::string_view rest = token;
    if (rest.starts_with('-')) rest.remove_prefix(1);
    if (rest.starts_with('0') && rest.size() > 1 && is_digit(rest[1])) return number_form::none;
    if (!take_digits(rest)) return number_form::none;
    if (rest.empty()) return number_form::integer;
    if (rest.starts_with('.')) {
        rest.remove_prefix(1);
        if (!take_digits(rest)) return number_form::none;
    }
    if (rest.starts_with('e') || rest.starts_with('E')) {
        rest.remove_prefix(1);
        if (rest.starts_with('+') || rest.starts_with('-')) rest.remove_prefix(1);
        if (!take_digits(rest)) return number_form::none;
    }
    return rest.empty() ? number_form::fraction : number_form::none;
}

/// The nearest double; infinite when there is none near.
double double_of(std::string_view token) {
    double value = 0;
    if (std::from_chars(token.data(), token.data() + token.size(), value).ec == std::errc{}) return value;
    return std::strtod(std::string(token).c_str(),
                       nullptr);  // tells what is too large from what is too small
}

void append_utf8(std::string& out, std::uint32_t point) {
    const auto add = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
    if (point < 0x80) return add(point);
    if (point < 0x800) {
        add(0xC0 | point >> 6);
    } else {
        if (point < 0x10000) {
            add(0xE0 | point >> 12);
        } else {
            add(0xF0 | point >> 18);
            add(0x80 | (point >> 12 & 0x3F));
        }
        add(0x80 | (point >> 6 & 0x3F));
    }
    add(0x80 | (point & 0x3F));
}

/// A name that the object has twice, or nullptr.
const std::string* doubled_name(const json_object& members) {
    static constexpr std::size_t compared_in_pairs = 16;
    if (members.size() <= compared_in_pairs) {
        for (std::size_t i = 1; i < members.size(); ++i)
            for (std::size_t j = 0; j < i; ++j)
                if (members[i].first == members[j].first) return &members[i].first;
        return nullptr;
    }
    // By hash first: names that differ are told apart without reading them, and nobody can choose names for
    // which this takes long.
    std::vector<std::pair<std::size_t, const std::string*>> names;
    names.reserve(members.size());
    for (const json_member& member : members)
        names.emplace_back(std::hash<std::string>()(member.first), &member.first);
    const auto same = [](const auto& a, const auto& b) {
        return a.first == b.first && *a.second == *b.second;
    };
    std::sort(names.begin(), names.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first < b.first : *a.second < *b.second;
    });
    const auto found = std::adjacent_find(names.begin(), names.end(), same);
    return found == names.end() ? nullptr : found->second;
}

/// How many bytes at the front stand in a string for themselves.
std::size_t plain_bytes(std::string_view text) {
    constexpr std::uint64_t ones = 0x0101010101010101, highs = 0x8080808080808080;
    const auto has_zero = [](std::uint64_t eight) { return (eight - ones) & ~eight & highs; };
    std::size_t at = 0;
    for (std::uint64_t eight = 0; text.size() - at >= sizeof eight; at += sizeof eight) {
        std::memcpy(&eight, text.data() + at, sizeof eight);
        const std::uint64_t controls = (eight - ones * 0x20) & ~eight & highs;
        if ((controls | has_zero(eight ^ ones * '"') | has_zero(eight ^ ones * '\\')) != 0) break;
    }
    while (at < text.size() && text[at] != '"' && text[at] != '\\' &&
           static_cast<unsigned char>(text[at]) >= 0x20)
        ++at;
    return at;
}

/// Reads one text by recursive descent. What fails says false; the path of a value that fails is put together
/// while the levels return, so that it costs nothing otherwise.
class reader {
  public:
    explicit reader(std::string_view text) : x_text(text) {}

    result<json_value> whole() {
        json_value out;
        if (!read(out, 0)) return fault();
        if (!at_end()) {
            expected("the end of the text is");
            return fault();
        }
        return out;
    }

  private:
    /// With the space around it.
    bool read(json_value& out, std::size_t depth) {
        skip_space();
        const bool good = read_value(out, depth);
        skip_space();
        return good;
    }

    bool read_value(json_value& out, std::size_t depth) {
        switch (peek()) {
            case '{':
                return read_object(out, depth + 1);
            case '[':
                return read_array(out, depth + 1);
            case '"': {
                std::string text;
                if (!read_string(text)) return false;
                out = std::move(text);
                return true;
            }
            default:
                return read_word(out);
        }
    }

    bool read_object(json_value& out, std::size_t depth) {
        if (depth > limits::json_depth_max) return too_deep();
        json_object members;
        ++x_at;
        skip_space();
        while (peek() != '}' || !members.empty()) {
            if (peek() != '"') return expected("a member's name in double quotes is");
            auto& [name, value] = members.emplace_back(std::string(), json_value());
            if (!read_string(name)) return false;
            skip_space();
            if (peek() != ':') return expected("a colon is");
            ++x_at;
            if (!read(value, depth)) {
                x_path.insert(0, shortened(name) + (x_path.empty() || x_path[0] == '[' ? "" : "."));
                return false;
            }
            if (peek() == '}') break;
            if (peek() != ',') return expected("a comma or } is");
            ++x_at;
            skip_space();
        }
        ++x_at;
        if (const std::string* name = doubled_name(members)) {
            x_path = shortened(*name);
            return wrong_value("is there twice; an object may have a member only once");
        }
        out = std::move(members);
        return true;
    }

    bool read_array(json_value& out, std::size_t depth) {
        if (depth > limits::json_depth_max) return too_deep();
        json_array items;
        ++x_at;
        skip_space();
        while (peek() != ']' || !items.empty()) {
            if (!read(items.emplace_back(), depth)) {
                x_path.insert(0, "[" + std::to_string(items.size() - 1) + "]" +
                                     (x_path.empty() || x_path[0] == '[' ? "" : "."));
                return false;
            }
            if (peek() == ']') break;
            if (peek() != ',') return expected("a comma or ] is");
            ++x_at;
        }
        ++x_at;
        out = std::move(items);
        return true;
    }

    bool read_string(std::string& out) {
        ++x_at;
        while (true) {
            const std::size_t plain = plain_bytes(x_text.substr(x_at));
            out.append(x_text, x_at, plain);
            x_at += plain;
            if (at_end()) return expected("the closing quote of a string is");
            if (x_text[x_at] == '"') break;
            if (x_text[x_at] != '\\')
                return expected("an escape, as \\n or \\u0009, for a control character in a string is");
            if (!read_escape(out)) return false;
        }
        ++x_at;
        return true;
    }

    bool read_escape(std::string& out) {
        static constexpr std::string_view escapes = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
        ++x_at;
        if (peek() == 'u') return read_code_point(out);
        const std::size_t which = at_end() ? std::string_view::npos : escapes.find(x_text[x_at]);
        if (which == std::string_view::npos) return expected("one of \"\\/bfnrtu after a backslash is");
        out += meanings[which];
        ++x_at;
        return true;
    }

    bool read_code_point(std::string& out) {
        std::uint32_t point = 0;
        if (!read_unit(point)) return false;
        if (point >= 0xD800 && point < 0xE000) {
            std::uint32_t low = 0;
            if (point < 0xDC00 && x_text.substr(x_at).starts_with("\\u")) {
                ++x_at;
                if (!read_unit(low)) return false;
            }
            if (low < 0xDC00 || low >= 0xE000)
                return wrong_text("a string holds half of a surrogate pair (\\ud800 to \\udfff)");
            point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
        }
        append_utf8(out, point);
        return true;
    }

    /// The u of an escape and its four digits.
    bool read_unit(std::uint32_t& out) {
        ++x_at;
        const std::string_view digits = x_text.substr(x_at, 4);
        const auto [stop, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), out, 16);
        if (failure != std::errc{} || stop != digits.data() + 4 || !is_word(digits[0]) || digits[0] == '-')
            return expected("four hexadecimal digits after \\u are");
        x_at += 4;
        return true;
    }

    /// true, false, null or a number.
    bool read_word(json_value& out) {
        const std::string_view rest = x_text.substr(x_at);
        const std::string_view word = rest.substr(
            0, static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), is_word) - rest.begin()));
        if (word == "NaN" || word == "Infinity" || word == "-Infinity")
            return wrong_value("is " + std::string(word) +
                               "; it must be a JSON value: only predictions take " + std::string(word));
        if (word == "true" || word == "false")
            out = word == "true";
        else if (word == "null")
            out = nullptr;
        else if (!word.empty() && (is_digit(word[0]) || word[0] == '-'))
            return read_number(word, out);
        else
            return expected("a value (an object, an array, a string, a number, true, false or null) is");
        x_at += word.size();
        return true;
    }

    bool read_number(std::string_view token, json_value& out) {
        const number_form form = form_of(token);
        if (form == number_form::none)
            return wrong_text(shortened(token) + " is no number of JSON, as 12, -0.5 and 1e3 are");
        const char* const end = token.data() + token.size();
        std::int64_t with_sign = 0;
        std::uint64_t without_sign = 0;
        if (form == number_form::integer && std::from_chars(token.data(), end, with_sign).ec == std::errc{}) {
            out = with_sign;
        } else if (form == number_form::integer &&
                   std::from_chars(token.data(), end, without_sign).ec == std::errc{}) {
            out = without_sign;
        } else {
            const double nearest = double_of(token);
            if (std::isinf(nearest))
                return wrong_value("is " + shortened(token) +
                                   "; a number must be from -1.7976931348623157e308 to "
                                   "1.7976931348623157e308");
            if (form == number_form::integer)
                out = long_integer{std::string(token)};
            else
                out = nearest;
        }
        x_at += token.size();
        return true;
    }

    bool at_end() const { return x_at >= x_text.size(); }
    char peek() const { return at_end() ? '\0' : x_text[x_at]; }
    void skip_space() {
        while (!at_end() &&
               (x_text[x_at] == ' ' || x_text[x_at] == '\n' || x_text[x_at] == '\r' || x_text[x_at] == '\t'))
            ++x_at;
    }

    bool wrong_text(std::string why) {
        x_why = std::move(why);
        return false;
    }
    bool wrong_value(std::string why) {
        x_is_value = true;
        return wrong_text(std::move(why));
    }
    bool too_deep() {
        return wrong_text("arrays and objects are nested deeper than " +
                          std::to_string(limits::json_depth_max));
    }
    /// `what` with its verb.
    bool expected(std::string_view what) {
        return wrong_text(std::string(what) + " expected, not " + found());
    }

    std::string found() const {
        if (at_end()) return "the end of the text";
        std::size_t bytes = 1;
        while (x_at + bytes < x_text.size() &&
               (static_cast<unsigned char>(x_text[x_at + bytes]) & 0xC0) == 0x80)
            ++bytes;
        const auto first = static_cast<unsigned char>(x_text[x_at]);
        if (first >= 0x20 && first != 0x7F) return std::string(x_text.substr(x_at, bytes));
        static constexpr std::string_view hex = "0123456789ABCDEF";
        return std::string("the control character U+00") + hex[first >> 4] + hex[first & 15];
    }

    /// "line 1, column 2", in characters.
    std::string place() const {
        const std::string_view before = x_text.substr(0, x_at);
        const auto lines = std::count(before.begin(), before.end(), '\n');
        const std::string_view line = before.substr(before.rfind('\n') + 1);
        const auto characters = std::count_if(
            line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
        return "line " + std::to_string(lines + 1) + ", column " + std::to_string(characters + 1);
    }

    error fault() const {
        if (!x_is_value)
            return runtime::invalid_argument("the body is not valid JSON: " + place() + ": " + x_why);
        return runtime::invalid_argument((x_path.empty() ? "the body" : x_path) + " " + x_why + " (" +
                                         place() + ")");
    }

    const std::string_view x_text;
    std::size_t x_at = 0;
    std::string x_why;  // of a failure
    bool x_is_value =
        false;  // a value or a member, named by its path, is wrong: the text as such can be read
    std::string x_path;
};

struct writer {
    std::string& out;
    void operator()(std::nullptr_t) const { out += "null"; }
    void operator()(bool value) const { out += value ? "true" : "false"; }
    void operator()(std::int64_t value) const { out += std::to_string(value); }
    void operator()(std::uint64_t value) const { out += std::to_string(value); }
    void operator()(double value) const { append_json_number(out, value); }
    void operator()(const std::string& value) const { runtime::append_json_string(out, value); }
    void operator()(const long_integer& value) const { out += value.digits; }
    void operator()(const json_array& items) const {
        out += '[';
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (i > 0) out += ',';
            append_json(out, items[i]);
        }
        out += ']';
    }
    void operator()(const json_object& members) const {
        out += '{';
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (i > 0) out += ',';
            runtime::append_json_string(out, members[i].first);
            out += ':';
            append_json(out, members[i].second);
        }
        out += '}';
    }
};

}  // namespace

const json_value* json_value::find(std::string_view name) const noexcept {
    if (const json_object* members = get_if<json_object>())
        for (const json_member& member : *members)
            if (member.first == name) return &member.second;
    return nullptr;
}

std::string_view json_value::kind_text() const noexcept {
    static constexpr std::array<std::string_view, 9> names{"null",     "a boolean", "a number",
                                                           "a number", "a number",  "a number",
                                                           "a string", "an array",  "an object"};
    return names[x_value.index()];
}

result<json_value> parse_json(std::string_view text) {
    if (text.empty()) return runtime::invalid_argument("the body is not valid JSON: it is empty");
    if (!runtime::is_valid_utf8(text))
        return runtime::invalid_argument("the body is not valid JSON: it is not UTF-8 text");
    return reader(text).whole();
}

std::string to_json_text(const json_value& value) {
    std::string out;
    append_json(out, value);
    return out;
}

json_value canonical(json_value value) {
    if (auto* items = value.get_if<json_array>()) {
        for (json_value& item : *items) item = canonical(std::move(item));
    } else if (auto* members = value.get_if<json_object>()) {
        for (json_member& member : *members) member.second = canonical(std::move(member.second));
        std::stable_sort(members->begin(), members->end(),
                         [](const json_member& a, const json_member& b) { return a.first < b.first; });
    } else if (const auto* number = value.get_if<double>(); number && std::trunc(*number) == *number) {
        if (std::abs(*number) < two_to_63) return static_cast<std::int64_t>(*number);
        if (*number > 0 && *number < 2 * two_to_63) return static_cast<std::uint64_t>(*number);
    } else if (const auto* integer = value.get_if<long_integer>()) {
        // A client that keeps numbers as doubles writes 1e20 with all its digits.
        const double nearest = double_of(integer->digits);
        std::array<char, 400> digits{};
        const auto end =
            std::to_chars(digits.data(), digits.data() + digits.size(), nearest, std::chars_format::fixed, 0)
                .ptr;
        if (std::string_view(digits.data(), end) == integer->digits) return nearest;
    }
    return value;
}

void append_json(std::string& out, const json_value& value) { std::visit(writer{out}, value.variant()); }

void append_json_number(std::string& out, double value) {
    if (std::isnan(value)) {
        out += "NaN";
        return;
    }
    if (std::isinf(value)) {
        out += value > 0 ? "Infinity" : "-Infinity";
        return;
    }
    std::array<char, 40> text{};
    const auto [end, failure] = std::to_chars(text.data(), text.data() + text.size(), value);
    const std::string_view digits(text.data(), static_cast<std::size_t>(end - text.data()));
    out += digits;
    if (digits.find_first_of(".e") == std::string_view::npos)
        out += ".0";  // 1.0 stays a fraction for readers that care
}

void object_writer::start(std::string_view name) {
    if (x_out.size() > 1) x_out += ',';
    runtime::append_json_string(x_out, name);
    x_out += ':';
}

object_writer& object_writer::text(std::string_view name, std::string_view value) {
    start(name);
    runtime::append_json_string(x_out, value);
    return *this;
}

object_writer& object_writer::number(std::string_view name, std::uint64_t value) {
    return raw(name, std::to_string(value));
}

object_writer& object_writer::quoted_number(std::string_view name, std::uint64_t value) {
    return text(name, std::to_string(value));
}

object_writer& object_writer::flag(std::string_view name, bool value) {
    return raw(name, value ? "true" : "false");
}

object_writer& object_writer::raw(std::string_view name, std::string_view json) {
    start(name);
    x_out += json.empty() ? std::string_view("null") : json;
    return *this;
}

object_writer& object_writer::members_of(std::string_view object_text) {
    const std::string_view members = object_text.substr(1, object_text.size() - 2);
    if (members.empty()) return *this;
    if (x_out.size() > 1) x_out += ',';
    x_out += members;
    return *this;
}

std::string object_writer::finish() {
    x_out += '}';
    return std::move(x_out);
}

}  // namespace herald::schemas
