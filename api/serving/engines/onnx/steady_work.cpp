#include "api/serving/engines/onnx/steady_work.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <vector>

#include "api/serving/engines/protobuf_reader.hpp"

namespace herald::api::serving::engines::onnx {
namespace {

// Both in the order of bytes. What is not here (Loop, If, NonZero …) may still be served:
// by a thread of its own.
constexpr std::array<std::string_view, 135> steady{"Abs",
                                                   "Acos",
                                                   "Acosh",
                                                   "Add",
                                                   "And",
                                                   "ArgMax",
                                                   "ArgMin",
                                                   "ArrayFeatureExtractor",
                                                   "Asin",
                                                   "Asinh",
                                                   "Atan",
                                                   "Atanh",
                                                   "AveragePool",
                                                   "BatchNormalization",
                                                   "Binarizer",
                                                   "BitShift",
                                                   "BitwiseAnd",
                                                   "BitwiseNot",
                                                   "BitwiseOr",
                                                   "BitwiseXor",
                                                   "Cast",
                                                   "CastLike",
                                                   "Ceil",
                                                   "Celu",
                                                   "Clip",
                                                   "Concat",
                                                   "Conv",
                                                   "ConvInteger",
                                                   "ConvTranspose",
                                                   "Cos",
                                                   "Cosh",
                                                   "CumSum",
                                                   "DepthToSpace",
                                                   "DequantizeLinear",
                                                   "Det",
                                                   "Div",
                                                   "Dropout",
                                                   "DynamicQuantizeLinear",
                                                   "Einsum",
                                                   "Elu",
                                                   "Equal",
                                                   "Erf",
                                                   "Exp",
                                                   "EyeLike",
                                                   "FeatureVectorizer",
                                                   "Flatten",
                                                   "Floor",
                                                   "GRU",
                                                   "Gather",
                                                   "GatherElements",
                                                   "GatherND",
                                                   "Gelu",
                                                   "Gemm",
                                                   "GlobalAveragePool",
                                                   "GlobalLpPool",
                                                   "GlobalMaxPool",
                                                   "Greater",
                                                   "GreaterOrEqual",
                                                   "GridSample",
                                                   "GroupNormalization",
                                                   "HardSigmoid",
                                                   "HardSwish",
                                                   "Hardmax",
                                                   "Identity",
                                                   "Imputer",
                                                   "InstanceNormalization",
                                                   "IsInf",
                                                   "IsNaN",
                                                   "LRN",
                                                   "LSTM",
                                                   "LabelEncoder",
                                                   "LayerNormalization",
                                                   "LeakyRelu",
                                                   "Less",
                                                   "LessOrEqual",
                                                   "LinearClassifier",
                                                   "LinearRegressor",
                                                   "Log",
                                                   "LogSoftmax",
                                                   "LpNormalization",
                                                   "LpPool",
                                                   "MatMul",
                                                   "MatMulInteger",
                                                   "Max",
                                                   "MaxPool",
                                                   "Mean",
                                                   "MeanVarianceNormalization",
                                                   "Min",
                                                   "Mish",
                                                   "Mod",
                                                   "Mul",
                                                   "Neg",
                                                   "Normalizer",
                                                   "Not",
                                                   "OneHotEncoder",
                                                   "Or",
                                                   "PRelu",
                                                   "Pow",
                                                   "QLinearConv",
                                                   "QLinearMatMul",
                                                   "QuantizeLinear",
                                                   "RMSNormalization",
                                                   "RNN",
                                                   "Reciprocal",
                                                   "Relu",
                                                   "ReverseSequence",
                                                   "Round",
                                                   "SVMClassifier",
                                                   "SVMRegressor",
                                                   "Scaler",
                                                   "ScatterElements",
                                                   "ScatterND",
                                                   "Selu",
                                                   "Sigmoid",
                                                   "Sign",
                                                   "Sin",
                                                   "Sinh",
                                                   "Softmax",
                                                   "Softplus",
                                                   "Softsign",
                                                   "SpaceToDepth",
                                                   "Sqrt",
                                                   "Sub",
                                                   "Sum",
                                                   "Swish",
                                                   "Tan",
                                                   "Tanh",
                                                   "ThresholdedRelu",
                                                   "Transpose",
                                                   "TreeEnsemble",
                                                   "TreeEnsembleClassifier",
                                                   "TreeEnsembleRegressor",
                                                   "Trilu",
                                                   "Where",
                                                   "Xor"};
/// All but their first input say sizes and axes.
constexpr std::array<std::string_view, 22> steady_if_sizes_are{"Expand",
                                                               "OneHot",
                                                               "Pad",
                                                               "ReduceL1",
                                                               "ReduceL2",
                                                               "ReduceLogSum",
                                                               "ReduceLogSumExp",
                                                               "ReduceMax",
                                                               "ReduceMean",
                                                               "ReduceMin",
                                                               "ReduceProd",
                                                               "ReduceSum",
                                                               "ReduceSumSquare",
                                                               "Reshape",
                                                               "Resize",
                                                               "Slice",
                                                               "Split",
                                                               "Squeeze",
                                                               "Tile",
                                                               "TopK",
                                                               "Unsqueeze",
                                                               "Upsample"};
static_assert(std::ranges::is_sorted(steady) && std::ranges::is_sorted(steady_if_sizes_are));

constexpr std::array<std::string_view, 3> domains{"", "ai.onnx", "ai.onnx.ml"};

// The numbers of onnx.proto.
constexpr std::uint64_t graph_of_model = 7;
constexpr std::uint64_t function_of_model = 25;
constexpr std::uint64_t node_of_graph = 1;
constexpr std::uint64_t initializer_of_graph = 5;
constexpr std::uint64_t sparse_initializer_of_graph = 15;
constexpr std::uint64_t name_of_tensor = 8;
constexpr std::uint64_t input_of_node = 1;
constexpr std::uint64_t output_of_node = 2;
constexpr std::uint64_t operator_of_node = 4;
constexpr std::uint64_t attribute_of_node = 5;
constexpr std::uint64_t domain_of_node = 7;
constexpr std::uint64_t graph_of_attribute = 6;
constexpr std::uint64_t graphs_of_attribute = 11;

/// False when the bytes are no message, or `see` says so.
template <class See>
bool each_field(std::string_view message, See&& see) {
    for (protobuf_reader reader(message); !reader.is_at_end();) {
        const auto field = reader.next();
        if (!field || !see(*field)) return false;
    }
    return true;
}

/// Takes a field that stands once at most. False for a second one, which protobuf would merge with the first
/// or put in its place, and for one in another wire form, which it would pass over.
bool take_once(std::optional<std::string_view>& into, const protobuf_field& field) {
    if (into || field.type != protobuf_field::bytes_behind_length) return false;
    into = field.bytes;
    return true;
}

struct node_parts {
    std::optional<std::string_view> op;
    std::optional<std::string_view> domain;
    std::vector<std::string_view> inputs;
    std::vector<std::string_view> outputs;
};

class graph_walk {
  public:
    bool is_steady(std::string_view graph) {
        // Nodes may come before the weights that they use.
        return each_field(graph, [this](const protobuf_field& field) { return keep_constant(field); }) &&
               each_field(graph, [this](const protobuf_field& field) {
                   return field.number != node_of_graph || is_steady_node(field.bytes);
               });
    }

  private:
    bool keep_constant(const protobuf_field& field) {
        if (field.number == sparse_initializer_of_graph) return false;
        if (field.number != initializer_of_graph && field.number != node_of_graph) return true;
        if (field.type != protobuf_field::bytes_behind_length) return false;
        if (field.number == node_of_graph) return true;
        std::optional<std::string_view> name;
        const bool is_whole = each_field(field.bytes, [&name](const protobuf_field& part) {
            return part.number != name_of_tensor || take_once(name, part);
        });
        if (is_whole && name) x_constants.insert(*name);
        return is_whole;
    }

    static bool has_no_graph(std::string_view attribute) {
        return each_field(attribute, [](const protobuf_field& part) {
            return part.number != graph_of_attribute && part.number != graphs_of_attribute;
        });
    }

    bool is_steady_node(std::string_view bytes) {
        node_parts node;
        const bool is_whole = each_field(bytes, [&node](const protobuf_field& part) {
            if (part.number == operator_of_node) return take_once(node.op, part);
            if (part.number == domain_of_node) return take_once(node.domain, part);
            if (part.number != input_of_node && part.number != output_of_node &&
                part.number != attribute_of_node)
                return true;
            if (part.type != protobuf_field::bytes_behind_length) return false;
            if (part.number == input_of_node) node.inputs.push_back(part.bytes);
            if (part.number == output_of_node) node.outputs.push_back(part.bytes);
            return part.number != attribute_of_node || has_no_graph(part.bytes);
        });
        if (!is_whole || std::ranges::find(domains, node.domain.value_or("")) == domains.end()) return false;
        const std::string_view op = node.op.value_or("");
        const bool is_of_shapes = op == "Constant" || op == "Shape" || op == "Size";
        const bool is_made_of_sizes = op == "ConstantOfShape" || op == "Range";
        const bool says_sizes = std::ranges::binary_search(steady_if_sizes_are, op);
        if (!is_of_shapes && !is_made_of_sizes && !says_sizes && !std::ranges::binary_search(steady, op))
            return false;
        if (says_sizes && !are_constant(node, 1)) return false;
        if (is_made_of_sizes && !are_constant(node, 0)) return false;
        if (is_of_shapes || are_constant(node, 0))
            x_constants.insert(node.outputs.begin(), node.outputs.end());
        return true;
    }

    bool are_constant(const node_parts& node, std::size_t from) const {
        return std::ranges::all_of(
            node.inputs.begin() + static_cast<std::ptrdiff_t>(std::min(from, node.inputs.size())),
            node.inputs.end(),
            [this](std::string_view name) { return name.empty() || x_constants.contains(name); });
    }

    std::set<std::string_view> x_constants;  // what does not depend on the values of inputs
};

}  // namespace

bool has_steady_work(std::string_view model) {
    std::optional<std::string_view> graph;
    const bool is_whole = each_field(model, [&graph](const protobuf_field& field) {
        if (field.number == graph_of_model) return take_once(graph, field);
        return field.number != function_of_model;
    });
    return is_whole && graph && graph_walk().is_steady(*graph);
}

}  // namespace herald::api::serving::engines::onnx
