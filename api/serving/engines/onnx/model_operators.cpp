#include "api/serving/engines/onnx/model_operators.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "api/serving/engines/onnx/limits.hpp"
#include "api/serving/engines/protobuf_reader.hpp"
#include "runtime/text.hpp"

namespace herald::api::serving::engines::onnx {
namespace {

// The numbers of onnx.proto.
constexpr std::uint64_t graph_in_model = 7;
constexpr std::uint64_t function_of_model = 25;
constexpr std::uint64_t node_of_graph = 1;
constexpr std::uint64_t node_of_function = 7;
constexpr std::uint64_t name_of_node = 3;
constexpr std::uint64_t operator_of_node = 4;
constexpr std::uint64_t attribute_of_node = 5;
constexpr std::uint64_t graph_of_attribute = 6;
constexpr std::uint64_t graphs_of_attribute = 11;

constexpr std::array<std::string_view, 2> dividing{"Div", "Mod"};
constexpr std::array<std::string_view, 7> without_empty_inputs{"ConvTranspose", "GRU",
                                                               "InstanceNormalization", "RoiAlign", "Unique"};

struct found_operators {
    std::span<const std::string_view> kinds;
    std::vector<std::string> first;  // as they are shown
    bool are_all = true;
};

void look_at_nodes(std::string_view of, std::uint64_t node_field, int depth, found_operators& into);

void look_at_attribute(std::string_view attribute, int depth, found_operators& into) {
    for (protobuf_reader reader(attribute); !reader.is_at_end();) {
        const auto field = reader.next();
        if (!field) return;
        if (field->number == graph_of_attribute || field->number == graphs_of_attribute)
            look_at_nodes(field->bytes, node_of_graph, depth + 1, into);
    }
}

void look_at_node(std::string_view node, int depth, found_operators& into) {
    std::string_view op;
    std::string_view name;
    for (protobuf_reader reader(node); !reader.is_at_end();) {
        const auto field = reader.next();
        if (!field) return;
        if (field->number == name_of_node) name = field->bytes;
        if (field->number == operator_of_node) op = field->bytes;
        if (field->number == attribute_of_node) look_at_attribute(field->bytes, depth, into);
    }
    if (std::ranges::find(into.kinds, op) == into.kinds.end()) return;
    if (into.first.size() == limits::onnx_operators_named) {
        into.are_all = false;
        return;
    }
    std::string shown(op);
    if (!name.empty()) shown += " \"" + runtime::shortened(name, limits::onnx_operator_name_bytes_max) + '"';
    into.first.push_back(std::move(shown));
}

void look_at_nodes(std::string_view of, std::uint64_t node_field, int depth, found_operators& into) {
    if (depth > limits::onnx_graph_depth_max) return;
    for (protobuf_reader reader(of); !reader.is_at_end();) {
        const auto field = reader.next();
        if (!field) return;
        if (field->number == node_field) look_at_node(field->bytes, depth, into);
    }
}

}  // namespace

std::span<const std::string_view> dividing_operators() noexcept { return dividing; }
std::span<const std::string_view> operators_without_empty_inputs() noexcept { return without_empty_inputs; }

std::string operators_of(std::string_view model, std::span<const std::string_view> kinds) {
    found_operators found;
    found.kinds = kinds;
    for (protobuf_reader reader(model); !reader.is_at_end();) {
        const auto field = reader.next();
        if (!field) break;
        if (field->number == graph_in_model) look_at_nodes(field->bytes, node_of_graph, 0, found);
        if (field->number == function_of_model) look_at_nodes(field->bytes, node_of_function, 0, found);
    }
    if (found.first.empty()) return {};
    if (found.first.size() == 1) return "operator " + found.first.front();
    std::string out = "one of its operators ";
    for (const std::string& each : found.first) out += (&each == found.first.data() ? "" : ", ") + each;
    return found.are_all ? out : out + ", …";
}

}  // namespace herald::api::serving::engines::onnx
