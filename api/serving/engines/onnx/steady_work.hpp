// Whether the work of a model depends on the shapes of its inputs alone.
#pragma once

#include <string_view>

namespace herald::api::serving::engines::onnx {

/// Of a whole ModelProto. True only if each operator is one whose work and whose results' sizes follow from
/// the sizes of what it is given, where what says a size or an axis (the shape of a Reshape, the ends of a
/// Slice) is a constant or made of shapes, and there is no inner graph and no function. Then a run takes
/// about as long as another with the same shapes, whatever the values. False also when the bytes cannot be
/// read.
bool has_steady_work(std::string_view model);

}  // namespace herald::api::serving::engines::onnx
