// Whether bytes are an ONNX model that one file holds. Pure: a walk over the wire form of ModelProto, without
// a look at values. Whether it can run is for the engine to say.
#pragma once

#include <filesystem>
#include <string_view>

#include "runtime/error.hpp"

namespace herald::api::serving::builder {

/// Errors: invalid_argument, for people: that it is not an ONNX model, and what a model of another kind
/// needs; that it is damaged; or which tensor has its values in another file.
result<void> inspect_model(std::string_view bytes);

/// The same of a file, which nobody may shorten meanwhile. Waits for the disk. Errors: also unavailable and
/// internal of the disk.
result<void> inspect_model_file(const std::filesystem::path&);

}  // namespace herald::api::serving::builder
