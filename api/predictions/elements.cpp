#include "api/predictions/elements.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>

#include "api/predictions/limits.hpp"
#include "runtime/text.hpp"
#include "schemas/limits.hpp"

namespace herald::api::predictions {
namespace {

using schemas::json_value;
using schemas::long_integer;
using schemas::tensor;
using schemas::tensor_type;

template <class Number>
void append_bytes(std::string& to, Number number) {
    to.append(reinterpret_cast<const char*>(&number), sizeof number);
}

template <class Number>
Number number_at(const tensor& from, std::size_t place) {
    Number number;
    std::memcpy(&number, from.data.data() + place * sizeof number, sizeof number);
    return number;
}

std::string shown(const json_value& value) {
    std::string text = schemas::to_json_text(value);
    if (text.size() > limits::json_shown_bytes_max) text = std::string(value.kind_text());
    return text;
}

error wrong_element(const tensor& to, const std::string& found, const std::string& expected) {
    return runtime::invalid_argument({"input \"", to.name, "\" holds ", found, "; an element of ",
                                      name_of(to.type), " must be ", expected});
}
error wrong_element(const tensor& to, const json_value& found, const std::string& expected) {
    return wrong_element(to, shown(found), expected);
}

template <class Integer>
std::string integers_of() {
    return "an integer from " + std::to_string(std::numeric_limits<Integer>::min()) + " to " +
           std::to_string(std::numeric_limits<Integer>::max());
}

bool is_exact(double integer) { return std::abs(integer) <= static_cast<double>(limits::exact_integer_max); }

/// The value as an integer; 1.0 is one. In that form, integers are only taken as far as doubles tell them
/// apart.
template <class Integer>
bool is_integer_of(const json_value& value, Integer& out) {
    if (const auto* number = value.get_if<std::int64_t>()) {
        out = static_cast<Integer>(*number);
        return std::in_range<Integer>(*number);
    }
    if (const auto* number = value.get_if<std::uint64_t>()) {
        out = static_cast<Integer>(*number);
        return std::in_range<Integer>(*number);
    }
    const auto* number = value.get_if<double>();
    if (!number || std::trunc(*number) != *number || !is_exact(*number)) return false;
    // 2^digits is exact as a double, and the first value that is too large.
    const double end = std::ldexp(1.0, std::numeric_limits<Integer>::digits);
    if (*number >= end || *number < (std::is_signed_v<Integer> ? -end : 0.0)) return false;
    out = static_cast<Integer>(*number);
    return true;
}

template <class Integer>
result<void> append_integer(tensor& to, const json_value& value) {
    Integer number{};
    if (!is_integer_of(value, number)) {
        const auto* real = value.get_if<double>();
        const bool is_doubtful = sizeof(Integer) == 8 && real && std::isfinite(*real) && !is_exact(*real);
        if (!is_doubtful) return wrong_element(to, value, integers_of<Integer>());
        // Which number was sent cannot be told any more.
        const std::string most = std::to_string(limits::exact_integer_max);
        return wrong_element(
            to, "a number beyond " + most + " with a fraction or an exponent",
            integers_of<Integer>() + ", and beyond " + most + " without a fraction or an exponent");
    }
    append_bytes(to.data, number);
    return {};
}

bool is_real(const json_value& value, double& out) {
    if (const auto* number = value.get_if<double>())
        out = *number;
    else if (const auto* signed_number = value.get_if<std::int64_t>())
        out = static_cast<double>(*signed_number);
    else if (const auto* unsigned_number = value.get_if<std::uint64_t>())
        out = static_cast<double>(*unsigned_number);
    else if (const auto* digits = value.get_if<long_integer>())
        return std::from_chars(digits->digits.data(), digits->digits.data() + digits->digits.size(), out)
                   .ec == std::errc{};
    else
        return false;
    return true;
}

/// Rounded towards zero, and odd if that lost something, so that rounding again to 16 bits gives the value
/// nearest to the number.
float odd_float_of(double number) noexcept {
    const auto nearest = static_cast<float>(number);
    if (std::isnan(number) || static_cast<double>(nearest) == number) return nearest;
    const bool is_too_large = std::abs(static_cast<double>(nearest)) > std::abs(number);
    const float shortened = is_too_large ? std::nextafter(nearest, 0.0F) : nearest;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(shortened) | 1U);
}

/// The nearest binary16; infinite when it is too large.
std::uint16_t half_of(float value) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
    const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u) return static_cast<std::uint16_t>(sign | 0x7E00u);   // NaN
    if (magnitude >= 0x477FF000u) return static_cast<std::uint16_t>(sign | 0x7C00u);  // rounds to infinity
    if (magnitude < 0x33000001u) return sign;                                         // rounds to zero
    const std::uint32_t exponent = magnitude >> 23;
    const bool is_subnormal = exponent < 113;
    const std::uint32_t shift = is_subnormal ? 126 - exponent : 13;
    const std::uint32_t significand =
        is_subnormal ? (magnitude & 0x7FFFFFu) | 0x800000u : magnitude - (112u << 23);
    std::uint32_t half = significand >> shift;
    const std::uint32_t rest = significand & ((1u << shift) - 1), middle = 1u << (shift - 1);
    if (rest > middle || (rest == middle && (half & 1))) ++half;
    return static_cast<std::uint16_t>(sign | half);
}

float float_of_half(std::uint16_t half) noexcept {
    const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
    const std::uint32_t exponent = (half >> 10) & 31u, significand = half & 0x3FFu;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000u | (significand << 13));
    if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (significand << 13));
    const float magnitude = std::ldexp(static_cast<float>(significand), -24);
    return sign != 0 ? -magnitude : magnitude;
}

std::uint16_t upper_half_of(float value) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
    return static_cast<std::uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

float float_of_upper_half(std::uint16_t half) noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
}

/// Errors: invalid_argument for anything but a number, and for a finite number that the type can only take as
/// infinite.
result<void> append_real(tensor& to, const json_value& value) {
    double number = 0;
    if (!is_real(value, number)) return wrong_element(to, value, "a number, NaN, Infinity or -Infinity");
    if (to.type == tensor_type::float64) {
        append_bytes(to.data, number);
        return {};
    }
    const auto single = static_cast<float>(number);
    float kept = single;
    std::uint16_t half = 0;
    if (to.type == tensor_type::float16) kept = float_of_half(half = half_of(odd_float_of(number)));
    if (to.type == tensor_type::bfloat16)
        kept = float_of_upper_half(half = upper_half_of(odd_float_of(number)));
    if (std::isinf(kept) && !std::isinf(number))
        return wrong_element(to, value, "within the range of its type, or Infinity");
    if (to.type == tensor_type::float32)
        append_bytes(to.data, single);
    else
        append_bytes(to.data, half);
    return {};
}

template <class Number>
char* write_number(char* at, Number number, not_finite written) {
    if constexpr (std::is_floating_point_v<Number>) {
        if (!std::isfinite(number)) {
            if (written == not_finite::as_null) return std::ranges::copy(std::string_view("null"), at).out;
            const std::string_view word = std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
            return std::ranges::copy(word, at).out;
        }
        // To readers of JSON, -0 is an integer, and loses its sign.
        if (number == 0 && std::signbit(number)) return std::ranges::copy(std::string_view("-0.0"), at).out;
    }
    return std::to_chars(at, at + limits::number_text_bytes_max, number).ptr;
}

/// `number_from(place)` is the number there.
template <class NumberFrom>
result<void> append_numbers_json(std::string& out, std::size_t place, std::size_t count,
                                 const NumberFrom& number_from, not_finite written) {
    // A few at a time, so that memory follows what is written.
    static constexpr std::size_t at_a_time = 32;
    std::array<char, at_a_time*(limits::number_text_bytes_max + 1)> text;
    for (std::size_t done = 0; done < count;) {
        char* end = text.data();
        for (const std::size_t until = std::min(count, done + at_a_time); done < until; ++done) {
            if (done > 0) *end++ = ',';
            end = write_number(end, number_from(place + done), written);
        }
        out.append(text.data(), end);
        if (const auto good = check_answer_bytes(out.size()); !good) return good;
    }
    return {};
}

template <class Number>
result<void> append_numbers_json(std::string& out, const tensor& from, std::size_t place, std::size_t count,
                                 not_finite written = not_finite::as_words) {
    return append_numbers_json(
        out, place, count, [&](std::size_t at) { return number_at<Number>(from, at); }, written);
}

result<void> append_flags_json(std::string& out, const tensor& from, std::size_t place, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        if (i > 0) out += ',';
        out += from.data[place + i] != 0 ? "true" : "false";
        if (const auto good = check_answer_bytes(out.size()); !good) return good;
    }
    return {};
}

result<void> append_texts_json(std::string& out, const tensor& from, std::size_t place, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        const std::string& text = from.texts[place + i];
        if (!runtime::is_valid_utf8(text))
            return runtime::failed_precondition({"output \"", from.name,
                                                 "\" holds bytes that are not UTF-8 text, which JSON cannot "
                                                 "hold; ask for it in binary, by the "
                                                 "v2 protocol"});
        if (const auto good = check_answer_bytes(out.size() + text.size()); !good) return good;
        if (i > 0) out += ',';
        runtime::append_json_string(out, text);
    }
    return {};
}

}  // namespace

result<void> check_answer_bytes(std::size_t bytes) {
    if (bytes <= limits::prediction_answer_bytes_max) return {};
    return runtime::failed_precondition({"the answer would be larger than ",
                                         limits::prediction_answer_bytes_max,
                                         " bytes; ask for fewer rows or outputs"});
}

result<void> append_element(tensor& to, const json_value& value) {
    switch (to.type) {
        case tensor_type::boolean:
            if (const bool* flag = value.get_if<bool>()) {
                to.data += *flag ? '\1' : '\0';
                return {};
            }
            return wrong_element(to, value, "true or false");
        case tensor_type::uint8:
            return append_integer<std::uint8_t>(to, value);
        case tensor_type::uint16:
            return append_integer<std::uint16_t>(to, value);
        case tensor_type::uint32:
            return append_integer<std::uint32_t>(to, value);
        case tensor_type::uint64:
            return append_integer<std::uint64_t>(to, value);
        case tensor_type::int8:
            return append_integer<std::int8_t>(to, value);
        case tensor_type::int16:
            return append_integer<std::int16_t>(to, value);
        case tensor_type::int32:
            return append_integer<std::int32_t>(to, value);
        case tensor_type::int64:
            return append_integer<std::int64_t>(to, value);
        case tensor_type::float16:
        case tensor_type::bfloat16:
        case tensor_type::float32:
        case tensor_type::float64:
            return append_real(to, value);
        case tensor_type::text:
            if (const std::string* text = value.get_if<std::string>()) {
                to.texts.push_back(*text);
                return {};
            }
            return wrong_element(to, value, "a string");
    }
    return runtime::internal("a tensor without a type");
}

result<void> append_elements_json(std::string& out, const tensor& from, std::size_t place, std::size_t count,
                                  not_finite written) {
    switch (from.type) {
        case tensor_type::boolean:
            return append_flags_json(out, from, place, count);
        case tensor_type::uint8:
            return append_numbers_json<std::uint8_t>(out, from, place, count);
        case tensor_type::uint16:
            return append_numbers_json<std::uint16_t>(out, from, place, count);
        case tensor_type::uint32:
            return append_numbers_json<std::uint32_t>(out, from, place, count);
        case tensor_type::uint64:
            return append_numbers_json<std::uint64_t>(out, from, place, count);
        case tensor_type::int8:
            return append_numbers_json<std::int8_t>(out, from, place, count);
        case tensor_type::int16:
            return append_numbers_json<std::int16_t>(out, from, place, count);
        case tensor_type::int32:
            return append_numbers_json<std::int32_t>(out, from, place, count);
        case tensor_type::int64:
            return append_numbers_json<std::int64_t>(out, from, place, count);
        case tensor_type::float16:
            return append_numbers_json(
                out, place, count,
                [&](std::size_t at) { return float_of_half(number_at<std::uint16_t>(from, at)); }, written);
        case tensor_type::bfloat16:
            return append_numbers_json(
                out, place, count,
                [&](std::size_t at) { return float_of_upper_half(number_at<std::uint16_t>(from, at)); },
                written);
        case tensor_type::float32:
            return append_numbers_json<float>(out, from, place, count, written);
        case tensor_type::float64:
            return append_numbers_json<double>(out, from, place, count, written);
        case tensor_type::text:
            return append_texts_json(out, from, place, count);
    }
    return runtime::internal("a tensor without a type");
}

namespace {

/// All bits of the exponent are set in them, and in no other number.
template <class Bits>
bool has_any_with(Bits exponent, const std::string& data) noexcept {
    for (std::size_t at = 0; at + sizeof(Bits) <= data.size(); at += sizeof(Bits)) {
        Bits bits = 0;
        std::memcpy(&bits, data.data() + at, sizeof bits);
        if ((bits & exponent) == exponent) return true;
    }
    return false;
}

}  // namespace

bool has_not_finite(const tensor& of) noexcept {
    if (of.type == tensor_type::float16) return has_any_with(std::uint16_t{0x7C00}, of.data);
    if (of.type == tensor_type::bfloat16) return has_any_with(std::uint16_t{0x7F80}, of.data);
    if (of.type == tensor_type::float32) return has_any_with(std::uint32_t{0x7F80'0000}, of.data);
    if (of.type == tensor_type::float64) return has_any_with(std::uint64_t{0x7FF0'0000'0000'0000}, of.data);
    return false;
}

std::size_t elements_of(const std::vector<std::int64_t>& shape) noexcept {
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    if (std::ranges::find(shape, 0) != shape.end()) return 0;
    std::size_t count = 1;
    for (const std::int64_t each : shape) {
        const auto size = static_cast<std::size_t>(each);
        if (count > most / size) return most;
        count *= size;
    }
    return count;
}

std::string count_text(const std::vector<std::int64_t>& shape) {
    const std::size_t count = elements_of(shape);
    if (count == std::numeric_limits<std::size_t>::max()) return "more elements than can be counted";
    return std::to_string(count) + " elements";
}

std::string names_of(const std::vector<schemas::tensor_spec>& specs) {
    std::string names;
    for (const schemas::tensor_spec& each : specs)
        names += (names.empty() ? "\"" : ", \"") + each.name + "\"";
    return names;
}

error unknown_input(std::string_view name, const schemas::model_signature& signature) {
    const std::string what = "\"" + std::string(name) + "\" is not an input of the model; it ";
    if (signature.inputs.empty()) return runtime::invalid_argument({what, "takes none"});
    return runtime::invalid_argument({what, "has ", names_of(signature.inputs)});
}

std::string text_of(tensor_type type, const std::vector<std::int64_t>& shape) {
    std::string text(name_of(type));
    if (shape == std::vector{schemas::unknown_rank}) return text + " of any shape";
    text += " [";
    for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ",") + std::to_string(shape[i]);
    return text + "]";
}

bool fits(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& declared) noexcept {
    if (shape.size() != declared.size()) return false;
    for (std::size_t i = 0; i < shape.size(); ++i)
        if (declared[i] >= 0 && shape[i] != declared[i]) return false;
    return true;
}

error wrong_shape(const schemas::tensor_spec& expected, const std::vector<std::int64_t>& found) {
    return runtime::invalid_argument(
        {"input \"", expected.name, "\" must be ", text_of(expected.type, expected.shape),
         "; found the shape ", text_of(expected.type, found).substr(name_of(expected.type).size() + 1)});
}

}  // namespace herald::api::predictions
