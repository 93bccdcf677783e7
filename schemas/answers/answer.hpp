// Every answer is a described type that says how its 64-bit integers are written,
//
//     static constexpr integers style = integers::as_strings;   // as_numbers: the deployment dialect
//
// and is made from rows by its function `of`.
#pragma once

#include "schemas/json_codec.hpp"

namespace herald::schemas::answers {

template <class T>
concept answer = described<T> && requires {
    { T::style } -> std::convertible_to<integers>;
};

template <answer T>
std::string text_of(const T& value) {
    return to_json_object(value, T::style);
}

/// {}: there is nothing to say.
struct done {
    static constexpr integers style = integers::as_strings;
    static constexpr void describe(auto&, auto&&) {}
};

/// The body of every refusal (wire.md "Errors").
struct failure {
    std::string error;
    std::uint32_t code = 0;
    std::string message;
    std::vector<json_text> details;

    static constexpr integers style = integers::as_strings;
    HERALD_DESCRIBE(error, code, message, details);
};

}  // namespace herald::schemas::answers
