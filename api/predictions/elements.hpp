// Elements of tensors as JSON: numbers, true and false, strings (wire.md §6).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/error.hpp"
#include "schemas/json.hpp"
#include "schemas/tensors.hpp"

namespace herald::api::predictions {

/// Appends the value to the tensor. 1.0 is taken for an integer, as far as doubles tell integers apart; NaN
/// and infinities for the types that have them. Errors: invalid_argument naming the input, what was found,
/// and what its type takes.
result<void> append_element(schemas::tensor& to, const schemas::json_value&);

/// Errors: failed_precondition when the body of an answer has more than
/// limits::prediction_answer_bytes_max bytes.
result<void> check_answer_bytes(std::size_t bytes);

/// How NaN and the infinities are written: JSON has no words for them, but most of its readers know these.
enum class not_finite : std::uint8_t { as_words, as_null };
/// The elements from this place on, as JSON with commas between them: floats shortest so that they read back
/// as the same. Errors: failed_precondition for a text that is no UTF-8, which JSON cannot hold, and as
/// check_answer_bytes.
result<void> append_elements_json(std::string& out, const schemas::tensor&, std::size_t place,
                                  std::size_t count, not_finite = not_finite::as_words);
/// Whether it has such a number.
bool has_not_finite(const schemas::tensor&) noexcept;

/// The number of elements of this shape; no member is negative. Saturates.
std::size_t elements_of(const std::vector<std::int64_t>& shape) noexcept;
/// "FP32 [-1,2]".
std::string text_of(schemas::tensor_type, const std::vector<std::int64_t>& shape);

/// Such a number of elements, for people.
std::string count_text(const std::vector<std::int64_t>& shape);

/// "a", "b", in quotes.
std::string names_of(const std::vector<schemas::tensor_spec>&);
/// invalid_argument that names those that there are.
error unknown_input(std::string_view name, const schemas::model_signature&);

/// Whether a value of this shape fits the declared one, where -1 is free.
bool fits(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& declared) noexcept;
/// invalid_argument naming the input, what is expected and what was found.
error wrong_shape(const schemas::tensor_spec& expected, const std::vector<std::int64_t>& found);

}  // namespace herald::api::predictions
