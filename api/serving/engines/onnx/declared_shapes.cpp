#include "api/serving/engines/onnx/declared_shapes.hpp"

#include <algorithm>

#include "api/serving/engines/onnx/mapped_file.hpp"
#include "api/serving/engines/onnx/model_graph.hpp"

namespace herald::api::serving::engines::onnx {
std::set<std::string> outputs_without_shape(std::string_view model) {
    std::set<std::string> out;
    for (const std::string_view each :
         parts_of(part_of(model, field_of::model_graph), field_of::graph_output)) {
        const auto tensor = part_of(part_of(each, field_of::value_type), field_of::type_tensor);
        if (parts_of(tensor, field_of::tensor_shape).empty())
            out.emplace(part_of(each, field_of::value_name));
    }
    return out;
}

void mark_unknown_ranks(std::vector<schemas::tensor_spec>& outputs, const std::filesystem::path& file) {
    const auto is_scalar = [](const schemas::tensor_spec& each) { return each.shape.empty(); };
    if (std::ranges::none_of(outputs, is_scalar)) return;
    const mapped_file mapped(file);
    const auto unsaid = outputs_without_shape(mapped.bytes());
    for (schemas::tensor_spec& each : outputs)
        if (is_scalar(each) && unsaid.contains(each.name)) each.shape = {schemas::unknown_rank};
}

}  // namespace herald::api::serving::engines::onnx
