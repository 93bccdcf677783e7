#include "api/serving/engines/onnx/model_graph.hpp"

#include <algorithm>

#include "api/serving/engines/protobuf_reader.hpp"

namespace herald::api::serving::engines::onnx {
namespace {

constexpr std::uint64_t input_of_node = 1;
constexpr std::uint64_t output_of_node = 2;
constexpr std::uint64_t name_of_node = 3;
constexpr std::uint64_t operator_of_node = 4;
constexpr std::uint64_t attribute_of_node = 5;
constexpr std::uint64_t name_of_attribute = 1;
constexpr std::uint64_t integer_of_attribute = 3;
constexpr std::uint64_t graph_of_attribute = 6;
constexpr std::uint64_t graphs_of_attribute = 11;
constexpr std::uint64_t name_of_weight = 8;

void read_attribute(std::string_view attribute, graph_node& into) {
    std::string_view name;
    for (protobuf_reader reader(attribute); !reader.is_at_end();) {
        const auto field = reader.next();
        if (!field) return;
        if (field->number == name_of_attribute) name = field->bytes;
        if (field->number == integer_of_attribute)
            into.integers[name] = static_cast<std::int64_t>(field->value);
        if (field->number == graph_of_attribute || field->number == graphs_of_attribute)
            into.graphs.push_back(field->bytes);
    }
}

}  // namespace

std::vector<std::string_view> parts_of(std::string_view message, std::uint64_t number) {
    std::vector<std::string_view> out;
    for (protobuf_reader reader(message); !reader.is_at_end();) {
        const auto field = reader.next();
        if (!field) break;
        if (field->number == number && field->type == protobuf_field::bytes_behind_length)
            out.push_back(field->bytes);
    }
    return out;
}

std::string_view part_of(std::string_view message, std::uint64_t number) {
    const auto all = parts_of(message, number);
    return all.empty() ? std::string_view() : all.front();
}

graph_node read_node(std::string_view node) {
    graph_node out;
    for (protobuf_reader reader(node); !reader.is_at_end();) {
        const auto field = reader.next();
        if (!field) break;
        if (field->number == input_of_node) out.inputs.push_back(field->bytes);
        if (field->number == output_of_node) out.outputs.push_back(field->bytes);
        if (field->number == name_of_node) out.name = field->bytes;
        if (field->number == operator_of_node) out.op = field->bytes;
        if (field->number == attribute_of_node) read_attribute(field->bytes, out);
    }
    return out;
}

varying_values::varying_values(std::string_view graph, const varying_values* around) : x_around(around) {
    for (const std::string_view each : parts_of(graph, field_of::graph_input))
        x_names.insert(part_of(each, field_of::value_name));
    // Old models list their weights among their inputs.
    for (const std::string_view each : parts_of(graph, field_of::graph_weight))
        x_names.erase(part_of(each, name_of_weight));
}

void varying_values::add_outputs_of(const graph_node& node) {
    if (!node.graphs.empty() ||
        std::ranges::any_of(node.inputs, [this](std::string_view each) { return contains(each); }))
        x_names.insert(node.outputs.begin(), node.outputs.end());
}

}  // namespace herald::api::serving::engines::onnx
