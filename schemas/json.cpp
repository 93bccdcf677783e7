#include "schemas/json.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <functional>

#include "runtime/text.hpp"
#include "schemas/json_numbers.hpp"
#include "schemas/limits.hpp"
#include "schemas/parser_room.hpp"

namespace herald::schemas {
namespace {

constexpr std::string_view space = " \t\r\n";

std::string shortened(std::string_view text) {
    if (text.size() <= limits::json_shown_bytes_max) return std::string(text);
    std::size_t end = limits::json_shown_bytes_max;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    return std::string(text.substr(0, end)) + "…";
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A JSON integer of any length: simdjson refuses those of more than 64 bits.
bool is_integer(std::string_view token) {
    if (token.starts_with('-')) token.remove_prefix(1);
    return !token.empty() && token.find_first_not_of("0123456789") == std::string_view::npos &&
           (token == "0" || !token.starts_with('0'));
}

bool is_word_for_number(std::string_view token) {
    return token == "NaN" || token == "Infinity" || token == "-Infinity";
}

/// A name that occurs twice in the object, or nullptr.
const std::string* doubled_name(const json_object& members) {
    static constexpr std::size_t compared_in_pairs = 16;
    if (members.size() <= compared_in_pairs) {
        for (std::size_t i = 1; i < members.size(); ++i)
            for (std::size_t j = 0; j < i; ++j)
                if (members[i].first == members[j].first) return &members[i].first;
        return nullptr;
    }
    // By hash first: different names are distinguished without comparing their text, and nobody can choose
    // names that make this slow.
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

/// What a thread keeps from one text to the next.
struct workroom {
    simdjson::ondemand::parser parser;
    std::string text;
};

/// Whether NaN, Infinity and -Infinity are numbers.
enum class words_for_numbers : std::uint8_t { refused, taken };

/// Walks a text as simdjson reads it. A failing step returns false; the path of a failing value is built
/// while the calls return, so it costs nothing otherwise.
class reader {
  public:
    reader(workroom& room, std::string_view text, words_for_numbers words)
        : x_room(room), x_text(text), x_words(words) {}

    result<json_value> whole() {
        json_value out;
        switch (const simdjson::error_code failure = start()) {
            case simdjson::SUCCESS:
                if (read_root(out)) return out;
                break;
            case simdjson::MEMALLOC:
                return runtime::resource_exhausted("no memory to read this JSON text");
            case simdjson::UTF8_ERROR:
                return runtime::invalid_argument("the body is not valid JSON: it is not UTF-8 text");
            case simdjson::UNCLOSED_STRING:
            case simdjson::UNESCAPED_CHARS:
                wrong_string();
                break;
            default:
                wrong_text(simdjson::error_message(failure), 0);
        }
        return fault();
    }

  private:
    /// simdjson treats a text that is only a word or a number specially, and looks at the last bracket before
    /// the first: so it is given "[text:]". The colon stops anything that ends too early, since it may not
    /// follow a value.
    simdjson::error_code start() {
        auto& [parser, text] = x_room;
        text.assign(1, '[').append(x_text).append(":]");
        const std::size_t bytes = text.size();
        text.append(simdjson::SIMDJSON_PADDING, ' ');
        if (parser.capacity() < bytes)
            if (const auto failure = parser.allocate(parser_bytes_for(bytes), parser.max_depth()))
                return failure;
        return parser.iterate(text.data(), bytes, text.size()).get(x_document);
    }

    bool read_root(json_value& out) {
        simdjson::ondemand::array items;
        if (const auto failure = x_document.get_array().get(items))
            return wrong_text(simdjson::error_message(failure), location());
        auto item = items.begin();
        if (!(item != items.end())) return expected(a_value, x_text.find_first_not_of(space));
        if (!read((*item).value_unsafe(), out, 0)) return false;
        ++item;
        const bool is_stopped = item != items.end() && (*item).error();
        const std::size_t at = is_stopped ? location() : x_text.find_last_not_of(space, location() - 1);
        return (is_stopped && at == x_text.size()) || expected("the end of the text is", at);
    }

    bool read(simdjson::ondemand::value value, json_value& out, std::size_t depth) {
        std::string_view token = value.raw_json_token();
        const std::size_t at = offset(token.data());
        if (token[0] == '{') return read_object(value, at, out, depth + 1);
        if (token[0] == '[') return read_array(value, at, out, depth + 1);
        if (token[0] == '"') {
            std::string_view text;
            if (!is_text(value.get_string(), text)) return wrong_escape(at);
            out = text;
            return true;
        }
        token = token.substr(0, token.find_last_not_of(space) + 1);
        if ((token[0] == '-' || is_digit(token[0])) && read_number(value, token, out)) return true;
        if (token == "true" || token == "false")
            out = token == "true";
        else if (token == "null")
            out = nullptr;
        else if (is_integer(token) && !std::isinf(double_of(token)))
            out = long_integer{std::string(token)};
        else if (x_words == words_for_numbers::taken && is_word_for_number(token))
            out = double_of(token);
        else
            return wrong_word(token, at);
        return true;
    }

    bool read_object(simdjson::ondemand::value value, std::size_t begin, json_value& out, std::size_t depth) {
        if (depth > limits::json_depth_max) return too_deep(begin);
        simdjson::ondemand::object fields;
        if (value.get_object().get(fields)) return expected("the closing } is", location());
        json_object members;
        for (auto each = fields.begin(); each != fields.end(); ++each) {
            const std::size_t next = location();
            auto field = *each;
            if (field.error()) {
                const std::size_t at = location();
                return expected(at < next    ? "a comma or } is"
                                : at == next ? "a member's name in double quotes is"
                                             : "a colon is",
                                at);
            }
            std::string_view name;
            if (!is_text(field.unescaped_key(), name)) return wrong_escape(next);
            json_value& member = members.emplace_back(name, json_value()).second;
            if (!read(field.value().value_unsafe(), member, depth)) {
                x_path.insert(0, shortened(name) + (x_path.empty() || x_path[0] == '[' ? "" : "."));
                return false;
            }
        }
        if (const std::string* name = doubled_name(members)) {
            x_path = shortened(*name);
            return wrong_value("is there twice; an object may have a member only once", begin);
        }
        out = std::move(members);
        return true;
    }

    bool read_array(simdjson::ondemand::value value, std::size_t begin, json_value& out, std::size_t depth) {
        if (depth > limits::json_depth_max) return too_deep(begin);
        simdjson::ondemand::array items;
        if (value.get_array().get(items)) return expected("the closing ] is", location());
        json_array read_items;
        for (auto item : items) {
            if (item.error()) return expected("a comma or ] is", location());
            if (!read(item.value_unsafe(), read_items.emplace_back(), depth)) {
                x_path.insert(0, "[" + std::to_string(read_items.size() - 1) + "]" +
                                     (x_path.empty() || x_path[0] == '[' ? "" : "."));
                return false;
            }
        }
        out = std::move(read_items);
        return true;
    }

    static bool read_number(simdjson::ondemand::value value, std::string_view token, json_value& out) {
        static constexpr std::size_t exact_digits_max =
            19;  // for fractions with more digits simdjson 3.0.1 returns 0
        simdjson::ondemand::number number;
        if (value.get_number().get(number)) return false;
        if (number.is_int64())
            out = number.get_int64();
        else if (number.is_uint64())
            out = number.get_uint64();
        else
            out = beside_integer(token,
                                 token.size() <= exact_digits_max ? number.get_double() : double_of(token));
        return true;
    }

    /// simdjson accepts the second half of a surrogate pair on its own, which no UTF-8 text can contain.
    static bool is_text(simdjson::simdjson_result<std::string_view> from, std::string_view& out) {
        return !std::move(from).get(out) && (out.find('\xED') == std::string_view::npos ||
                                             simdjson::validate_utf8(out.data(), out.size()));
    }

    /// The offset of a byte in simdjson's text.
    std::size_t offset(const char* at) const { return static_cast<std::size_t>(at - x_room.text.data()) - 1; }
    /// The offset of the next token; after an error, of the wrong one.
    std::size_t location() {
        const char* at = nullptr;
        return x_document.current_location().get(at) ? x_text.size() : offset(at);
    }

    bool wrong_text(std::string why, std::size_t at) {
        x_why = std::move(why);
        x_at = std::min(at, x_text.size());
        return false;
    }
    bool wrong_value(std::string why, std::size_t at) {
        x_is_value = true;
        return wrong_text(std::move(why), at);
    }
    /// A word that is not true, false, null or a number.
    bool wrong_word(std::string_view token, std::size_t at) {
        if (is_word_for_number(token))
            return wrong_value("is " + std::string(token) +
                                   "; it must be a JSON value: only predictions take " + std::string(token),
                               at);
        if (token[0] != '-' && !is_digit(token[0])) return expected(a_value, at);
        if (token.find_first_not_of("+-.0123456789Ee") == std::string_view::npos &&
            std::isinf(double_of(token)))
            return wrong_value(
                "is " + shortened(token) +
                    "; a number must be from -1.7976931348623157e308 to 1.7976931348623157e308",
                at);
        return wrong_text(shortened(token) + " is not a JSON number such as 12, -0.5 or 1e3", at);
    }
    bool too_deep(std::size_t at) {
        return wrong_text(
            "arrays and objects are nested deeper than " + std::to_string(limits::json_depth_max), at);
    }
    bool wrong_escape(std::size_t at) {
        return wrong_text(
            "this string has an escape that stands for no character: JSON has \\\" \\\\ \\/ \\b \\f \\n \\r "
            "\\t, and "
            "\\u with four hexadecimal digits, of which \\ud800 to \\udfff come in pairs",
            at);
    }
    /// simdjson does not report the place of a string that does not end or that contains control characters.
    bool wrong_string() {
        std::size_t begin = 0;
        bool is_inside = false;
        for (std::size_t i = 0; i < x_text.size(); ++i) {
            if (is_inside && static_cast<unsigned char>(x_text[i]) < 0x20)
                return expected("an escape, as \\n or \\u0009, for a control character in a string is", i);
            if (x_text[i] == '\\') {
                ++i;
            } else if (x_text[i] == '"') {
                is_inside = !is_inside;
                begin = i;
            }
        }
        return wrong_text("the string that begins here has no closing quote", begin);
    }
    /// `what` with its verb.
    bool expected(std::string_view what, std::size_t at) {
        wrong_text("", at);
        x_why = std::string(what) + " expected, not " + found();
        return false;
    }

    std::string found() const {
        if (x_at == x_text.size()) return "the end of the text";
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
            return runtime::invalid_argument({"the body is not valid JSON: ", place(), ": ", x_why});
        return runtime::invalid_argument(
            {(x_path.empty() ? "the body" : x_path), " ", x_why, " (", place(), ")"});
    }

    static constexpr std::string_view a_value =
        "a value (an object, an array, a string, a number, true, false or null) is";

    workroom& x_room;
    const std::string_view x_text;
    const words_for_numbers x_words;
    simdjson::ondemand::document x_document;
    std::size_t x_at = 0;  // of a failure
    std::string x_why;
    bool x_is_value = false;  // a value or member, named by its path, is wrong: the text itself is valid
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

namespace {

result<json_value> parse(std::string_view text, words_for_numbers words) {
    if (text.empty()) return runtime::invalid_argument("the body is not valid JSON: it is empty");
    thread_local workroom room;
    auto value = reader(room, text, words).whole();
    if (!is_parser_kept(room.parser.capacity())) room = workroom();
    return value;
}

}  // namespace

result<json_value> parse_json(std::string_view text) { return parse(text, words_for_numbers::refused); }

result<json_value> parse_prediction_json(std::string_view text) {
    return parse(text, words_for_numbers::taken);
}

std::string to_json_text(const json_value& value) {
    std::string out;
    append_json(out, value);
    return out;
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
        out += ".0";  // 1.0 stays a fraction, for readers that distinguish
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
