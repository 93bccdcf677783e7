#include "schemas/json_numbers.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>

namespace herald::schemas {
namespace {

bool is_decimal(char c) { return c >= '0' && c <= '9'; }

/// A number's digits without zeros around them, and how many of them stand before the decimal point.
struct decimal {
    std::string digits;
    std::int64_t point = 0;
};

decimal decimal_of(std::string_view token) {
    static constexpr std::int64_t exponent_max = 1'000'000'000'000;  // far beyond what digits can make good
    const std::size_t end = std::min(token.find_first_of("eE"), token.size());
    std::string_view exponent = token.substr(std::min(end + 1, token.size()));
    if (exponent.starts_with('+')) exponent.remove_prefix(1);
    decimal out;
    if (std::from_chars(exponent.data(), exponent.data() + exponent.size(), out.point).ec ==
        std::errc::result_out_of_range)
        out.point = exponent.starts_with('-') ? -exponent_max : exponent_max;
    for (const char c : token.substr(0, std::min(end, token.find('.'))))
        if (is_decimal(c)) ++out.point;
    for (const char c : token.substr(0, end))
        if (is_decimal(c)) out.digits += c;
    const std::size_t zeros = std::min(out.digits.find_first_not_of('0'), out.digits.size());
    out.digits.erase(0, zeros);
    out.point -= static_cast<std::int64_t>(zeros);
    out.digits.resize(out.digits.find_last_not_of('0') + 1);
    return out;
}

}  // namespace

double double_of(std::string_view token) {
    double value = 0;
    if (std::from_chars(token.data(), token.data() + token.size(), value).ec == std::errc{}) return value;
    return std::strtod(std::string(token).c_str(),
                       nullptr);  // distinguishes too large from too small
}

double beside_integer(std::string_view token, double nearest) {
    static constexpr double fractions_end = 4503599627370496.0;  // 2^52
    static constexpr std::size_t exact_bytes_max = 16;  // without an exponent, doubles tell them apart
    if (std::trunc(nearest) != nearest || std::abs(nearest) >= fractions_end) return nearest;
    if (token.size() <= exact_bytes_max && token.find_first_of("eE") == token.npos) return nearest;
    const decimal exact = decimal_of(token);
    if (exact.digits.empty() || exact.point >= static_cast<std::int64_t>(exact.digits.size())) return nearest;
    const std::string whole =
        exact.point > 0 ? exact.digits.substr(0, static_cast<std::size_t>(exact.point)) : "0";
    const double infinity = std::numeric_limits<double>::infinity();
    const bool is_beyond = double_of(whole) == std::abs(nearest);
    if (!is_beyond) return std::nextafter(nearest, 0.0);
    return std::nextafter(nearest, token.starts_with('-') ? -infinity : infinity);
}

}  // namespace herald::schemas
