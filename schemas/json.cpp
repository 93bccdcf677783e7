#include "schemas/json.hpp"

#include <simdjson.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "runtime/limits.hpp"
#include "runtime/text.hpp"

namespace herald::schemas {
namespace {

// simdjson refuses the tokens NaN, Infinity and -Infinity. They are rare, so only a text that holds one of
// them outside a string takes this way: each becomes a string that cannot stand in the original (it starts
// with a NUL escape).
constexpr std::string_view not_a_number_mark = "\\u0000NaN";
constexpr std::string_view infinity_mark = "\\u0000Infinity";
constexpr std::string_view minus_infinity_mark = "\\u0000-Infinity";

std::string mark_special_numbers(std::string_view text) {
    std::string out;
    out.reserve(text.size() + 32);
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::string_view rest = text.substr(i);
        if (in_string) {
            if (text[i] == '\\' && i + 1 < text.size())
                out += text[i++];
            else if (text[i] == '"')
                in_string = false;
            out += text[i];
            continue;
        }
        const auto replace = [&](std::string_view token, std::string_view mark) {
            if (!rest.starts_with(token)) return false;
            out += '"';
            out += mark;
            out += '"';
            i += token.size() - 1;
            return true;
        };
        if (replace("NaN", not_a_number_mark) || replace("-Infinity", minus_infinity_mark) ||
            replace("Infinity", infinity_mark))
            continue;
        in_string = text[i] == '"';
        out += text[i];
    }
    return out;
}

json_value from_text(std::string_view text) {
    if (!text.empty() && text.front() == '\0') {
        if (text.substr(1) == "NaN") return std::numeric_limits<double>::quiet_NaN();
        if (text.substr(1) == "Infinity") return std::numeric_limits<double>::infinity();
        if (text.substr(1) == "-Infinity") return -std::numeric_limits<double>::infinity();
    }
    return json_value(text);
}

json_value convert(simdjson::dom::element element, bool marked) {
    using simdjson::dom::element_type;
    switch (element.type()) {
        case element_type::ARRAY: {
            json_array out;
            for (const simdjson::dom::element item : simdjson::dom::array(element))
                out.push_back(convert(item, marked));
            return out;
        }
        case element_type::OBJECT: {
            json_object out;
            for (const auto& [name, value] : simdjson::dom::object(element))
                out.emplace_back(std::string(name), convert(value, marked));
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
            return marked ? from_text(text) : json_value(text);
        }
        case element_type::BOOL:
            return bool(element);
        case element_type::NULL_VALUE:
            break;
    }
    return nullptr;
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
    std::string marked;
    const bool special =
        text.find("NaN") != std::string_view::npos || text.find("Infinity") != std::string_view::npos;
    if (special) text = marked = mark_special_numbers(text);
    if (parser.capacity() > kept_bytes) parser = simdjson::dom::parser();
    if (parser.allocate(std::max<std::size_t>(text.size(), 1024), limits::json_depth_max) !=
        simdjson::SUCCESS)
        return runtime::resource_exhausted("no memory to read this JSON text");
    simdjson::dom::element root;
    const simdjson::error_code failure = parser.parse(text.data(), text.size()).get(root);
    if (failure != simdjson::SUCCESS)
        return runtime::invalid_argument(std::string("the body is not valid JSON: ") +
                                         simdjson::error_message(failure));
    return convert(root, special);
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
