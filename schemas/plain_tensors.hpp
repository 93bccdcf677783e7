// Tensors straight from the JSON that most callers send: no tree of values in between.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "schemas/tensors.hpp"

namespace herald::schemas {

/// The model's inputs in its order, from an object that has each of them once, or from a bare array when
/// there is one input; all of them integers, FP32, FP64 or BYTES, in nested arrays of plain numbers or texts
/// that fit the declared shapes. nullopt for everything else, right or wrong: parse_prediction_json reads it,
/// or says what is wrong. Both read the same body alike. `elements_max`: the most that can be there, where
/// that is known; then a model's only input takes no more memory than for so many.
std::optional<std::vector<tensor>> read_plain_tensors(std::string_view json, const model_signature&,
                                                      std::size_t elements_max = 0);

}  // namespace herald::schemas
