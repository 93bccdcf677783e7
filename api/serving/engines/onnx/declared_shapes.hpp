// Which outputs of a model have no shape in its file: the runtime tells them from scalars no more.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/serving/engines/engine.hpp"

namespace herald::api::serving::engines::onnx {

/// Of a whole ModelProto; what cannot be read names none.
std::set<std::string> outputs_without_shape(std::string_view model);
/// Gives these outputs of the model in this file schemas::unknown_rank where it is so. The runtime has found
/// out the shapes of most that do not say one; the others it gives as scalars.
void mark_unknown_ranks(std::vector<schemas::tensor_spec>& outputs, const std::filesystem::path& file);

}  // namespace herald::api::serving::engines::onnx
