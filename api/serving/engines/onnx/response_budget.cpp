#include "api/serving/engines/onnx/response_budget.hpp"

#include <string>

namespace herald::api::serving::engines::onnx {

result<std::shared_ptr<const void>> response_budget::take(std::size_t bytes) {
    const std::size_t before = x_taken.fetch_add(bytes);
    if (bytes > x_bytes_max || before > x_bytes_max - bytes) {
        x_taken.fetch_sub(bytes);
        return runtime::resource_exhausted({"the answers under way take ", before,
                                            " bytes of this node's memory, and this one needs ", bytes,
                                            "; together they may take ", x_bytes_max, "; try again"});
    }
    const auto give_back = [of = shared_from_this(), bytes](const void*) { of->x_taken.fetch_sub(bytes); };
    return std::shared_ptr<const void>(this, give_back);
}

}  // namespace herald::api::serving::engines::onnx
