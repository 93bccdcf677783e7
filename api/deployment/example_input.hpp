// A body for predictions that the model takes.
#pragma once

#include <string>

#include "schemas/tensors.hpp"

namespace herald::api::deployment {

/// {"<input>": nested zeros, …} with 1 for each free dimension. An input of more than
/// limits::example_elements_max elements is only described: <FLOAT32 [1,3,224,224]>. Empty without inputs.
std::string example_input(const schemas::model_signature&);

}  // namespace herald::api::deployment
