#include "api/serving/engines/onnx/joined_inputs.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "api/serving/engines/onnx/limits.hpp"
#include "api/serving/engines/onnx/model_graph.hpp"
#include "runtime/text.hpp"

namespace herald::api::serving::engines::onnx {
namespace {

/// Of their first operand.
constexpr std::array<std::string_view, 25> shape_keepers{"Abs",
                                                         "BatchNormalization",
                                                         "Binarizer",
                                                         "Cast",
                                                         "Clip",
                                                         "Dropout",
                                                         "Elu",
                                                         "Erf",
                                                         "Exp",
                                                         "Gelu",
                                                         "HardSigmoid",
                                                         "Identity",
                                                         "Imputer",
                                                         "LabelEncoder",
                                                         "LayerNormalization",
                                                         "LeakyRelu",
                                                         "Log",
                                                         "Neg",
                                                         "Normalizer",
                                                         "Relu",
                                                         "Scaler",
                                                         "Sigmoid",
                                                         "Softmax",
                                                         "Sqrt",
                                                         "Tanh"};
/// Of the one operand that varies.
constexpr std::array<std::string_view, 9> row_keepers{
    "Add", "ArrayFeatureExtractor", "Div", "Gather", "Gemm", "MatMul", "Mul", "OneHotEncoder", "Sub"};

bool has_no_elements(const schemas::tensor& each) {
    return std::ranges::find(each.shape, 0) != each.shape.end();
}

std::string shown_shape(const schemas::tensor& of) {
    std::string out = '"' + runtime::shortened(of.name, limits::onnx_operator_name_bytes_max) + "\" [";
    for (const std::int64_t& each : of.shape)
        out += (&each == of.shape.data() ? "" : ",") + std::to_string(each);
    return out + ']';
}

std::int64_t attribute(const graph_node& node, std::string_view name) {
    const auto found = node.integers.find(name);
    return found == node.integers.end() ? 0 : found->second;
}

}  // namespace

class joined_inputs::reader {
  public:
    reader(joined_inputs& into, std::string_view graph, const schemas::model_signature& signature)
        : x_into(into), x_varying(graph) {
        for (std::size_t at = 0; at < signature.inputs.size(); ++at)
            x_parts[signature.inputs[at].name] = {at, true};
        for (const std::string_view each : parts_of(graph, field_of::graph_node)) read(read_node(each));
        if (!x_has_a_join) return;
        for (const std::string_view each : parts_of(graph, field_of::graph_input)) read_symbols(each);
        for (auto& [symbol, places] : x_symbols)
            if (places.size() > 1) x_into.x_symbols.push_back({std::string(symbol), std::move(places)});
    }

  private:
    void read(const graph_node& node) {
        if (node.op == "SequenceConstruct" && !node.outputs.empty())
            x_sequences[node.outputs.front()] = node.inputs;
        if (node.op == "Concat") add_join(node, node.inputs);
        if (node.op == "ConcatFromSequence") {
            const auto found =
                node.inputs.empty() ? x_sequences.end() : x_sequences.find(node.inputs.front());
            add_join(node, found == x_sequences.end() ? std::vector<std::string_view>() : found->second);
        }
        if (const auto kept = kept_by(node); kept && !node.outputs.empty())
            x_parts[node.outputs.front()] = *kept;
        x_varying.add_outputs_of(node);
    }

    std::optional<part> kept_by(const graph_node& node) const {
        const bool keeps_shape = std::ranges::find(shape_keepers, node.op) != shape_keepers.end();
        if (!keeps_shape && std::ranges::find(row_keepers, node.op) == row_keepers.end()) return std::nullopt;
        const bool is_turned =
            attribute(node, "transA") != 0 || (node.op == "Gather" && attribute(node, "axis") != 0);
        const auto varies = [this](std::string_view each) { return x_varying.contains(each); };
        if (is_turned || node.inputs.empty() || std::ranges::count_if(node.inputs, varies) != 1)
            return std::nullopt;
        // What is looked up gives its rows; in all others, the first.
        const std::size_t place = node.op == "Gather" ? 1 : 0;
        const bool is_either = node.op == "Add" || node.op == "Mul" || node.op == "Sub" || node.op == "Div";
        const auto from = is_either ? *std::ranges::find_if(node.inputs, varies)
                                    : node.inputs[std::min(place, node.inputs.size() - 1)];
        const auto found = x_parts.find(from);
        if (found == x_parts.end()) return std::nullopt;
        return part{found->second.input, keeps_shape && found->second.has_its_shape};
    }

    void add_join(const graph_node& node, const std::vector<std::string_view>& operands) {
        const std::int64_t axis = attribute(node, "axis");
        const bool is_stack = attribute(node, "new_axis") != 0;
        if (axis != 0 || is_stack) x_has_a_join = true;
        join made{
            {},
            axis,
            is_stack,
            std::string("operator ") + runtime::shortened(node.op, limits::onnx_operator_name_bytes_max)};
        if (!node.name.empty())
            made.shown += " \"" + runtime::shortened(node.name, limits::onnx_operator_name_bytes_max) + '"';
        for (const std::string_view each : operands)
            if (const auto found = x_parts.find(each); found != x_parts.end())
                made.parts.push_back(found->second);
        if (made.parts.size() > 1) x_into.x_joins.push_back(std::move(made));
    }

    void read_symbols(std::string_view input) {
        const auto found = x_parts.find(part_of(input, field_of::value_name));
        if (found == x_parts.end()) return;
        const auto tensor = part_of(part_of(input, field_of::value_type), field_of::type_tensor);
        const auto dims = parts_of(part_of(tensor, field_of::tensor_shape), field_of::shape_dimension);
        for (std::size_t place = 0; place < dims.size(); ++place) {
            const auto symbol = part_of(dims[place], field_of::dimension_symbol);
            if (!symbol.empty()) x_symbols[symbol].push_back({found->second.input, place});
        }
    }

    joined_inputs& x_into;
    varying_values x_varying;
    std::map<std::string_view, part> x_parts;
    std::map<std::string_view, std::vector<std::string_view>> x_sequences;
    std::map<std::string_view, std::vector<dimension>> x_symbols;
    bool x_has_a_join = false;  // along another axis than the first
};

joined_inputs::joined_inputs(std::string_view model, const schemas::model_signature& signature) {
    for (const std::string_view graph : parts_of(model, field_of::model_graph))
        reader(*this, graph, signature);
}

bool joined_inputs::fit(const join& by, const part& a, const part& b,
                        const std::vector<schemas::tensor>& inputs) {
    const auto& left = inputs[a.input].shape;
    const auto& right = inputs[b.input].shape;
    const auto rank = static_cast<std::int64_t>(std::min(left.size(), right.size()));
    if (rank == 0) return true;
    const std::int64_t axis = by.is_stack ? rank : by.axis < 0 ? by.axis + rank : by.axis;
    if (!a.has_its_shape || !b.has_its_shape) return axis <= 0 || (left[0] == 0) == (right[0] == 0);
    if (left.size() != right.size()) return true;  // the runtime refuses it by itself
    for (std::int64_t at = 0; at < rank; ++at)
        if (at != axis && left[static_cast<std::size_t>(at)] != right[static_cast<std::size_t>(at)])
            return false;
    return true;
}

result<void> joined_inputs::check(const std::vector<schemas::tensor>& inputs) const {
    if ((x_joins.empty() && x_symbols.empty()) || std::ranges::none_of(inputs, has_no_elements)) return {};
    for (const join& each : x_joins)
        for (const part& a : each.parts) {
            if (!has_no_elements(inputs[a.input])) continue;
            for (const part& b : each.parts)
                if (!fit(each, a, b, inputs))
                    return runtime::invalid_argument(
                        {"input ", shown_shape(inputs[a.input]), " has no elements, and input ",
                         shown_shape(inputs[b.input]), " has another shape: the model's ", each.shown,
                         " joins them along dimension ", each.axis, ", and the others must be equal"});
        }
    for (const same_dimensions& each : x_symbols) {
        const auto extent = [&inputs](const dimension& of) {
            const auto& shape = inputs[of.input].shape;
            return of.place < shape.size() ? shape[of.place] : 0;
        };
        const auto none = std::ranges::find(each.places, 0, extent);
        const auto some =
            std::ranges::find_if(each.places, [&](const dimension& of) { return extent(of) != 0; });
        if (none == each.places.end() || some == each.places.end() || none->input == some->input) continue;
        return runtime::invalid_argument(
            {"inputs ", shown_shape(inputs[none->input]), " and ", shown_shape(inputs[some->input]),
             " must have equal dimensions where the model declares ",
             runtime::shortened(each.symbol, limits::onnx_operator_name_bytes_max), " in both"});
    }
    return {};
}

}  // namespace herald::api::serving::engines::onnx
