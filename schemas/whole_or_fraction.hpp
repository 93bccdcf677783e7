// A number of JSON that compares exactly where both sides are integers, otherwise as a double (wire.md "What
// is a change").
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "schemas/json.hpp"

namespace herald::schemas {

class whole_or_fraction {
  public:
    explicit whole_or_fraction(std::uint64_t whole);
    explicit whole_or_fraction(std::int64_t whole);
    explicit whole_or_fraction(double fraction) : x_value(fraction) {}

    /// Of a JSON number; empty for any other value.
    static std::optional<whole_or_fraction> of(const json_value&);
    /// Of a text that is a number and nothing else.
    static std::optional<whole_or_fraction> of_text(std::string_view);

    /// The nearest double.
    double value() const noexcept { return x_value; }

    /// NaN is unordered.
    friend std::partial_ordering operator<=>(const whole_or_fraction&, const whole_or_fraction&) noexcept;
    friend bool operator==(const whole_or_fraction& a, const whole_or_fraction& b) noexcept {
        return (a <=> b) == 0;
    }

  private:
    static whole_or_fraction of_digits(std::string_view digits, double nearest);

    bool x_is_whole = false;
    bool x_is_negative = false;  // of a whole number
    std::uint64_t x_magnitude = 0;
    std::string x_long_magnitude;  // its digits, if it has more than fit into x_magnitude; otherwise empty
    double x_value = 0;
};

}  // namespace herald::schemas
