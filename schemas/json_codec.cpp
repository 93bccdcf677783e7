#include "schemas/json_codec.hpp"

#include <charconv>
#include <cmath>

namespace herald::schemas::detail {
namespace {

constexpr std::size_t shown_bytes_max = 60;
constexpr double two_to_63 = 9223372036854775808.0;

}  // namespace

error wrong_member(std::string_view path, const json_value& found, std::string_view expected) {
    std::string text = to_json_text(found);
    if (text.size() > shown_bytes_max) text = std::string(found.kind_text());
    return runtime::invalid_argument(std::string(path) + " is " + text + "; it must be " +
                                     std::string(expected));
}

error too_many_elements(std::string_view path, std::size_t count) {
    return runtime::invalid_argument(std::string(path) + " holds " + std::to_string(count) +
                                     " elements; at most " + std::to_string(limits::json_list_elements_max) +
                                     " are allowed");
}

std::optional<std::uint64_t> unsigned_of(const json_value& value) noexcept {
    if (const auto* text = value.get_if<std::string>()) return runtime::parse_decimal(*text);
    if (const auto* number = value.get_if<std::uint64_t>()) return *number;
    const auto number = signed_of(value);
    if (!number || *number < 0) return std::nullopt;
    return static_cast<std::uint64_t>(*number);
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

}  // namespace herald::schemas::detail
