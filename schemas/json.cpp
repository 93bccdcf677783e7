#include "schemas/json.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "runtime/limits.hpp"
#include "runtime/text.hpp"

namespace herald::schemas {
namespace {

constexpr double two_to_63 = 9223372036854775808.0;

// simdjson refuses the tokens NaN, Infinity and -Infinity, and integers of more than 64 bits. A text with
// such numbers is rewritten first: the tokens become strings that start with `number_mark`, every string of
// the text starts with `text_mark` instead, and a long integer gets an exponent.
constexpr char number_mark = '#';
constexpr char text_mark = '=';

/// Whether the next token is the colon after a member's name: no number may stand before it.
bool is_before_colon(std::string_view rest) {
    const std::size_t next = rest.find_first_not_of(" \t\r\n");
    return next != std::string_view::npos && rest[next] == ':';
}

bool is_long_integer(std::string_view token) {
    const std::size_t digits = token.starts_with('-') ? 1 : 0;
    if (token.size() == digits || token.find_first_not_of("0123456789", digits) != std::string_view::npos)
        return false;
    const char* const end = token.data() + token.size();
    std::int64_t with_sign = 0;
    std::uint64_t without_sign = 0;
    return std::from_chars(token.data(), end, with_sign).ec == std::errc::result_out_of_range &&
           std::from_chars(token.data(), end, without_sign).ec != std::errc{};
}

std::size_t string_end(std::string_view text, std::size_t begin) {
    std::size_t i = begin + 1;
    while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
    return std::min(i + 1, text.size());
}

std::string rewritten(std::string_view text) {
    static constexpr std::array<std::string_view, 3> tokens{"NaN", "Infinity", "-Infinity"};
    std::string out;
    out.reserve(text.size() + text.size() / 4 + 32);
    for (std::size_t i = 0; i < text.size();) {
        const std::string_view rest = text.substr(i);
        std::size_t length = 1;
        if (rest.front() == '"') {
            length = string_end(text, i) - i;
            out += '"';
            out += text_mark;
            out += rest.substr(1, length - 1);
        } else if (const auto token =
                       std::find_if(tokens.begin(), tokens.end(),
                                    [&](std::string_view one) { return rest.starts_with(one); });
                   token != tokens.end() && !is_before_colon(rest.substr(token->size()))) {
            length = token->size();
            out += '"';
            out += number_mark;
            out += *token;
            out += '"';
        } else {
            length =
                std::max<std::size_t>(std::min(rest.find_first_not_of("+-.0123456789Ee"), rest.size()), 1);
            out += rest.substr(0, length);
            if (is_long_integer(rest.substr(0, length))) out += "e0";
        }
        i += length;
    }
    return out;
}

double number_of(std::string_view token) {
    if (token == "NaN") return std::numeric_limits<double>::quiet_NaN();
    return token.starts_with('-') ? -std::numeric_limits<double>::infinity()
                                  : std::numeric_limits<double>::infinity();
}

struct converter {
    bool is_rewritten = false;
    bool has_bad_text = false;  // half of a surrogate pair, which no UTF-8 text can hold

    std::string_view text_of(std::string_view text) {
        if (!simdjson::validate_utf8(text.data(), text.size())) has_bad_text = true;
        return is_rewritten ? text.substr(1) : text;
    }

    json_value operator()(simdjson::dom::element element) {
        using simdjson::dom::element_type;
        switch (element.type()) {
            case element_type::ARRAY: {
                json_array out;
                for (const simdjson::dom::element item : simdjson::dom::array(element))
                    out.push_back((*this)(item));
                return out;
            }
            case element_type::OBJECT: {
                json_object out;
                for (const auto& [name, value] : simdjson::dom::object(element))
                    out.emplace_back(std::string(text_of(name)), (*this)(value));
                return out;
            }
            case element_type::INT64:
                return std::int64_t(element);
            case element_type::UINT64:
                return std::uint64_t(element);
            case element_type::DOUBLE:
                return double(element);
            case element_type::STRING: {
                const std::string_view text(element);
                if (is_rewritten && text.front() == number_mark) return number_of(text.substr(1));
                return json_value(text_of(text));
            }
            case element_type::BOOL:
                return bool(element);
            case element_type::NULL_VALUE:
                break;
        }
        return nullptr;
    }
};

simdjson::error_code parse_with(simdjson::dom::parser& parser, std::string_view text,
                                simdjson::dom::element& root) {
    if (const auto failure =
            parser.allocate(std::max<std::size_t>(text.size(), 1024), limits::json_depth_max))
        return failure;
    return parser.parse(text.data(), text.size()).get(root);
}

struct writer {
    std::string& out;
    void operator()(std::nullptr_t) const { out += "null"; }
    void operator()(bool value) const { out += value ? "true" : "false"; }
    void operator()(std::int64_t value) const { out += std::to_string(value); }
    void operator()(std::uint64_t value) const { out += std::to_string(value); }
    void operator()(double value) const { append_json_number(out, value); }
    void operator()(const std::string& value) const { runtime::append_json_string(out, value); }
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
    const json_object* members = get_if<json_object>();
    if (!members) return nullptr;
    for (auto member = members->rbegin(); member != members->rend(); ++member)
        if (member->first == name) return &member->second;
    return nullptr;
}

std::string_view json_value::kind_text() const noexcept {
    static constexpr std::array<std::string_view, 8> names{"null",     "a boolean", "a number", "a number",
                                                           "a number", "a string",  "an array", "an object"};
    return names[x_value.index()];
}

result<json_value> parse_json(std::string_view text) {
    if (text.empty()) return runtime::invalid_argument("the body is not valid JSON: it is empty");
    thread_local simdjson::dom::parser parser;
    static constexpr std::size_t kept_bytes = 1024 * 1024;
    if (parser.capacity() > kept_bytes) parser = simdjson::dom::parser();
    converter convert;
    convert.is_rewritten =
        text.find("NaN") != std::string_view::npos || text.find("Infinity") != std::string_view::npos;
    simdjson::dom::element root;
    simdjson::error_code failure = simdjson::NUMBER_ERROR;
    if (!convert.is_rewritten) failure = parse_with(parser, text, root);
    if (failure == simdjson::NUMBER_ERROR) {
        convert.is_rewritten = true;
        failure = parse_with(parser, rewritten(text), root);
    }
    if (failure == simdjson::MEMALLOC) return runtime::resource_exhausted("no memory to read this JSON text");
    if (failure != simdjson::SUCCESS)
        return runtime::invalid_argument(std::string("the body is not valid JSON: ") +
                                         simdjson::error_message(failure));
    json_value value = convert(root);
    if (convert.has_bad_text)
        return runtime::invalid_argument(
            "the body is not valid JSON: a string holds half of a surrogate pair (\\ud800 to \\udfff)");
    return value;
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
