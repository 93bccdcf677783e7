#include "api/serving/engines/onnx/declared_shapes.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "api/serving/engines/onnx/mapped_file.hpp"
#include "api/serving/engines/protobuf_reader.hpp"

namespace herald::api::serving::engines::onnx {
namespace {

// The numbers of onnx.proto.
constexpr std::uint64_t graph_of_model = 7;
constexpr std::uint64_t output_of_graph = 12;
constexpr std::uint64_t name_of_value = 1;
constexpr std::uint64_t type_of_value = 2;
constexpr std::uint64_t tensor_of_type = 1;
constexpr std::uint64_t shape_of_tensor = 2;

std::optional<std::string_view> part_of(std::string_view message, std::uint64_t number) {
    for (protobuf_reader reader(message); !reader.is_at_end();) {
        const auto field = reader.next();
        if (!field) break;
        if (field->number == number && field->type == protobuf_field::bytes_behind_length)
            return field->bytes;
    }
    return std::nullopt;
}

}  // namespace

std::set<std::string> outputs_without_shape(std::string_view model) {
    std::set<std::string> out;
    for (protobuf_reader graph(part_of(model, graph_of_model).value_or("")); !graph.is_at_end();) {
        const auto field = graph.next();
        if (!field) break;
        if (field->number != output_of_graph) continue;
        const auto type = part_of(field->bytes, type_of_value).value_or("");
        const auto tensor = part_of(type, tensor_of_type).value_or("");
        if (!part_of(tensor, shape_of_tensor)) out.emplace(part_of(field->bytes, name_of_value).value_or(""));
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
