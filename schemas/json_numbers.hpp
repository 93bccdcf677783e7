// The doubles of JSON's numbers with a fraction or an exponent.
#pragma once

#include <string_view>

namespace herald::schemas {

/// The nearest double; infinite when there is none.
double double_of(std::string_view token);

/// A number between two integers never becomes one of them: 0.99999999999999999999 is not 1, nor 1e-400 0.
/// Its double is then the next one on its side, as far as doubles have fractions.
double beside_integer(std::string_view token, double nearest);

}  // namespace herald::schemas
