// Predictions in plain JSON (wire.md §6): named inputs, a bare value for a model's only input, or a list of
// row objects; and tables as pandas writes them ("split").
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/predictions/elements.hpp"
#include "api/predictions/reading_memory.hpp"
#include "runtime/error.hpp"
#include "schemas/json.hpp"
#include "schemas/tensors.hpp"

namespace herald::api::predictions {

using tensors = std::vector<schemas::tensor>;

/// The inputs in the signature's order. Errors: invalid_argument naming the input, what is expected and what
/// was found; those of `take`, which is asked for the memory that reading takes.
result<tensors> inputs_of_json(std::string_view body, const schemas::model_signature&,
                               const memory_taker& take = {});
/// {"<name>": nested arrays}; of a single output the bare value. Errors: as append_elements_json.
result<std::string> json_of_outputs(const tensors&, not_finite = not_finite::as_words);

struct split_request {
    tensors inputs;
    schemas::json_value index;  // echoed; null: 0, 1, 2 …
};
/// {index, columns, data}: a column for each input, or all columns as the only input's second dimension. null
/// is NaN where the input has it, as pandas writes it. Errors: as inputs_of_json; failed_precondition when
/// the model's outputs cannot be a table.
result<split_request> inputs_of_split(std::string_view body, const schemas::model_signature&,
                                      const memory_taker& take = {});
/// The same three members: a column for each output; an output with several values in a row has a numbered
/// column for each value. Errors: failed_precondition for outputs that differ in their number of rows, and as
/// append_elements_json.
result<std::string> split_of_outputs(const tensors&, const schemas::json_value& index,
                                     not_finite = not_finite::as_words);

/// Nested arrays as a value of this input; the v2 protocol uses it, too. Errors: as inputs_of_json.
result<schemas::tensor> tensor_of_nested(const schemas::json_value&, const schemas::tensor_spec&);
/// Appends the elements as nested arrays. Errors: as append_elements_json.
result<void> append_nested(std::string& out, const schemas::tensor&, not_finite = not_finite::as_words);

}  // namespace herald::api::predictions
