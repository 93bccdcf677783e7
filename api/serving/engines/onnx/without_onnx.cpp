#include "api/serving/engines/onnx/onnx_engine.hpp"

namespace herald::api::serving::engines::onnx {

result<std::unique_ptr<onnx_engine>> make_onnx_engine(const onnx_options&) {
    return runtime::unavailable(
        "this Herald was built without ONNX Runtime's headers, so it runs no ONNX models; deploy/onnxruntime "
        "brings them, then build it again");
}

}  // namespace herald::api::serving::engines::onnx
