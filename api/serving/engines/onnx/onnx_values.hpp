// Values of the runtime, made of tensors, and tensors made of such values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/serving/engines/engine.hpp"
#include "api/serving/engines/onnx/response_budget.hpp"
#include "api/serving/engines/onnx/runtime_library.hpp"

namespace herald::api::serving::engines::onnx {

/// None when there are more than a size can say.
std::optional<std::size_t> element_count(const std::vector<std::int64_t>& shape);
/// Of the elements; of texts without their letters. None as above.
std::optional<std::size_t> bytes_of_shape(schemas::tensor_type, const std::vector<std::int64_t>& shape);
std::string in_quotes(const std::string& name);

/// Uses the tensor's memory, which must outlive it, unless that is of texts.
result<owned<OrtValue>> value_of(const runtime_library&, const schemas::tensor&);
/// The outputs with these names. What they take is counted before any of it is copied. Errors:
/// failed_precondition and invalid_argument when they are not to be returned; resource_exhausted.
result<tensor_response> copied_out(const runtime_library&, response_budget&,
                                   const std::vector<owned<OrtValue>>&,
                                   const std::vector<const char*>& names);

}  // namespace herald::api::serving::engines::onnx
