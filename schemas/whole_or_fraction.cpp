#include "schemas/whole_or_fraction.hpp"

#include <algorithm>
#include <charconv>

namespace herald::schemas {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

whole_or_fraction::whole_or_fraction(std::uint64_t whole)
    : x_is_whole(true), x_magnitude(whole), x_value(static_cast<double>(whole)) {}

whole_or_fraction::whole_or_fraction(std::int64_t whole)
    : x_is_whole(true),
      x_is_negative(whole < 0),
      x_magnitude(whole < 0 ? -static_cast<std::uint64_t>(whole) : static_cast<std::uint64_t>(whole)),
      x_value(static_cast<double>(whole)) {}

/// "-" and digits.
whole_or_fraction whole_or_fraction::of_digits(std::string_view digits, double nearest) {
    whole_or_fraction out(nearest);
    out.x_is_whole = true;
    out.x_is_negative = digits.starts_with('-');
    if (out.x_is_negative) digits.remove_prefix(1);
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), out.x_magnitude);
    if (read.ec == std::errc::result_out_of_range) out.x_long_magnitude = digits;
    if (digits.empty()) out.x_is_negative = false;
    return out;
}

std::optional<whole_or_fraction> whole_or_fraction::of(const json_value& value) {
    if (const auto* fraction = value.get_if<double>()) return whole_or_fraction(*fraction);
    if (const auto* whole = value.get_if<std::int64_t>()) return whole_or_fraction(*whole);
    if (const auto* whole = value.get_if<std::uint64_t>()) return whole_or_fraction(*whole);
    const auto* longer = value.get_if<long_integer>();
    return longer ? of_text(longer->digits) : std::nullopt;
}

std::optional<whole_or_fraction> whole_or_fraction::of_text(std::string_view text) {
    double nearest = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, nearest);
    const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
    // An integer that no double is near to is still an integer.
    if (!digits.empty() && std::ranges::all_of(digits, is_digit)) return of_digits(text, nearest);
    if (text.empty() || failure != std::errc{} || stop != end) return std::nullopt;
    return whole_or_fraction(nearest);
}

std::partial_ordering operator<=>(const whole_or_fraction& a, const whole_or_fraction& b) noexcept {
    if (!a.x_is_whole || !b.x_is_whole) return a.x_value <=> b.x_value;
    if (a.x_is_negative != b.x_is_negative)
        return a.x_is_negative ? std::partial_ordering::less : std::partial_ordering::greater;
    const whole_or_fraction& low = a.x_is_negative ? b : a;  // of two negative ones the larger is the lower
    const whole_or_fraction& high = a.x_is_negative ? a : b;
    if (low.x_long_magnitude.empty() && high.x_long_magnitude.empty())
        return low.x_magnitude <=> high.x_magnitude;
    if (low.x_long_magnitude.size() != high.x_long_magnitude.size())
        return low.x_long_magnitude.size() <=> high.x_long_magnitude.size();
    return low.x_long_magnitude <=> high.x_long_magnitude;
}

}  // namespace herald::schemas
