#include "api/serving/engines/onnx/model_operators.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

#include "api/serving/engines/onnx/limits.hpp"
#include "api/serving/engines/onnx/model_graph.hpp"
#include "runtime/text.hpp"

namespace herald::api::serving::engines::onnx {
namespace {

constexpr std::array<operator_kind, 2> dividing{{{"Div"}, {"Mod"}}};
constexpr std::array<operator_kind, 16> without_empty_inputs{{
    {"ConvTranspose"},
    {"GRU"},
    {"InstanceNormalization"},
    {"RoiAlign"},
    {"Unique"},
    // A kernel of extent 0:
    {"Conv", {1, -1}},
    {"ConvInteger", {1, -1}},
    {"DeformConv", {1, -1}},
    {"FusedConv", {1, -1}},
    {"NhwcFusedConv", {1, -1}},
    {"QLinearConv", {3, -1}},
    // An inner dimension of 0:
    {"DynamicQuantizeMatMul", {0, 1}},
    {"MatMulInteger", {0, 1}},
    {"MatMulIntegerToFloat", {0, 1}},
    {"QGemm", {0, 3}},
    {"QLinearMatMul", {0, 3}},
}};

struct found_operators {
    std::span<const operator_kind> kinds;
    std::vector<std::string> first;  // as they are shown
    bool are_all = true;
};

bool is_constant(const graph_node& node, int place, const varying_values& varying) {
    return place >= 0 && static_cast<std::size_t>(place) < node.inputs.size() &&
           !varying.contains(node.inputs[static_cast<std::size_t>(place)]);
}

bool is_of_a_kind(const graph_node& node, std::span<const operator_kind> kinds,
                  const varying_values& varying) {
    if (kinds.empty()) return true;
    const auto kind = std::ranges::find(kinds, node.op, &operator_kind::name);
    return kind != kinds.end() && std::ranges::none_of(kind->unless_constant, [&](int place) {
               return is_constant(node, place, varying);
           });
}

void look_at(const std::vector<std::string_view>& nodes, varying_values varying, int depth,
             found_operators& into) {
    if (depth > limits::onnx_graph_depth_max) return;
    for (const std::string_view bytes : nodes) {
        const graph_node node = read_node(bytes);
        for (const std::string_view each : node.graphs)
            look_at(parts_of(each, field_of::graph_node), varying_values(each, &varying), depth + 1, into);
        if (is_of_a_kind(node, into.kinds, varying)) {
            if (into.first.size() < limits::onnx_operators_named) {
                const auto shown = [](std::string_view text) {
                    return runtime::shortened(text, limits::onnx_operator_name_bytes_max);
                };
                into.first.push_back(shown(node.op) +
                                     (node.name.empty() ? "" : " \"" + shown(node.name) + '"'));
            } else {
                into.are_all = false;
            }
        }
        varying.add_outputs_of(node);
    }
}

}  // namespace

std::span<const operator_kind> dividing_operators() noexcept { return dividing; }
std::span<const operator_kind> operators_without_empty_inputs() noexcept { return without_empty_inputs; }

std::string operators_of(std::string_view model, std::span<const operator_kind> kinds) {
    found_operators found;
    found.kinds = kinds;
    for (const std::string_view graph : parts_of(model, field_of::model_graph))
        look_at(parts_of(graph, field_of::graph_node), varying_values(graph), 0, found);
    for (const std::string_view function : parts_of(model, field_of::model_function)) {
        const auto inputs = parts_of(function, field_of::function_input);
        look_at(parts_of(function, field_of::function_node),
                varying_values(std::set(inputs.begin(), inputs.end())), 0, found);
    }
    if (found.first.empty()) return {};
    if (found.are_all && found.first.size() == 1) return "operator " + found.first.front();
    std::string out = "one of its operators ";
    for (const std::string& each : found.first) out += (&each == found.first.data() ? "" : ", ") + each;
    return found.are_all ? out : out + ", …";
}

}  // namespace herald::api::serving::engines::onnx
