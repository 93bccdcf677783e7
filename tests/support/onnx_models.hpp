// Small ONNX models for tests, written in protobuf's wire form. onnx_models.py has the same.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace herald::test::onnx {

// TensorProto.DataType
enum kind : std::uint64_t {
    float32 = 1,
    uint8,
    int8,
    uint16,
    int16,
    int32,
    int64,
    text,
    boolean,
    float16,
    float64,
    uint32,
    uint64,
    bfloat16 = 16,
};

// ---- protobuf

inline std::string varint(std::uint64_t value) {
    std::string out;
    for (; value > 0x7F; value >>= 7) out += static_cast<char>((value & 0x7F) | 0x80);
    out += static_cast<char>(value);
    return out;
}
inline std::string number(std::uint64_t field, std::uint64_t value) {
    return varint(field << 3) + varint(value);
}
inline std::string chunk(std::uint64_t field, std::string_view value) {
    return varint(field << 3 | 2) + varint(value.size()) + std::string(value);
}
inline std::string chunks(std::uint64_t field, const std::vector<std::string>& values) {
    std::string out;
    for (const auto& value : values) out += chunk(field, value);
    return out;
}
template <class T>
std::string bytes_of(std::initializer_list<T> values) {
    std::string out;
    for (const T value : values) {
        const auto raw = std::bit_cast<std::array<char, sizeof(T)>>(value);
        out.append(raw.data(), raw.size());
    }
    return out;
}

// ---- parts of a model

using shape = std::vector<std::int64_t>;

/// An input or an output. -1 is free, and the same "N" wherever it stands; -2 is another one.
inline std::string value(std::string_view name, kind of, const shape& dims) {
    std::string out;
    for (const auto dim : dims)
        out +=
            chunk(1, dim >= 0 ? number(1, static_cast<std::uint64_t>(dim)) : chunk(2, dim == -1 ? "N" : "M"));
    return chunk(1, name) + chunk(2, chunk(1, number(1, of) + chunk(2, out)));
}
inline std::string weight_head(std::string_view name, kind of, const shape& dims) {
    std::string out;
    for (const auto dim : dims) out += number(1, static_cast<std::uint64_t>(dim));
    return out + number(2, of) + chunk(8, name);
}
inline std::string weight(std::string_view name, kind of, const shape& dims, std::string_view data) {
    return weight_head(name, of, dims) + chunk(9, data);
}
inline std::string external_weight(std::string_view name, kind of, const shape& dims, std::string_view file) {
    return weight_head(name, of, dims) + chunk(13, chunk(1, "location") + chunk(2, file)) + number(14, 1);
}
inline std::string whole(std::string_view name, std::int64_t value) {
    return chunk(1, name) + number(3, static_cast<std::uint64_t>(value)) + number(20, 2);
}
inline std::string inner(std::string_view name, std::string_view graph) {
    return chunk(1, name) + chunk(6, graph) + number(20, 5);
}
inline std::string node(std::string_view op, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs,
                        const std::vector<std::string>& attributes = {}, std::string_view domain = {}) {
    std::string out = chunks(1, inputs) + chunks(2, outputs) + chunk(4, op) + chunks(5, attributes);
    if (!domain.empty()) out += chunk(7, domain);
    return out;
}
inline std::string graph(const std::vector<std::string>& nodes, const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs,
                         const std::vector<std::string>& weights = {}) {
    return chunks(1, nodes) + chunk(2, "g") + chunks(5, weights) + chunks(11, inputs) + chunks(12, outputs);
}
inline std::string model(std::string_view of, std::string_view note = {}, std::string_view domain = {}) {
    std::string out = number(1, 8) + chunk(2, "herald tests");
    if (!note.empty()) out += chunk(6, note);
    out += chunk(7, of) + chunk(8, number(2, 17));
    if (!domain.empty()) out += chunk(8, chunk(1, domain) + number(2, 1));
    return out;
}

// ---- models

/// x and y, INT32[1,16], give their sum and difference. Every seed makes other bytes, none another result.
inline std::string tiny(unsigned seed = 0) {
    const auto of = [](std::string_view name) { return value(name, int32, {1, 16}); };
    return model(graph({node("Add", {"x", "y"}, {"sum"}), node("Sub", {"x", "y"}, {"difference"})},
                       {of("x"), of("y")}, {of("sum"), of("difference")}),
                 "seed " + std::to_string(seed));
}

/// Exact in any language: 16 bits each of a linear congruential generator, in [-1/16, 1/16).
inline std::string pseudo_random_floats(std::size_t count, std::uint32_t seed) {
    std::string out;
    out.reserve(count * 4);
    for (std::uint32_t state = seed; count != 0; --count) {
        state = state * 1664525U + 1013904223U;
        out += bytes_of({static_cast<float>(static_cast<std::int32_t>(state >> 16U) - 32768) / 524288.0F});
    }
    return out;
}

inline constexpr std::int64_t mlp_width = 64;

/// x, FP32[N,64], through two hidden layers; gives probabilities, FP32[N,16].
inline std::string make_mlp() {
    const std::vector<std::int64_t> layers{mlp_width, 1'024, 1'024, 16};
    std::vector<std::string> nodes;
    std::vector<std::string> weights;
    std::string last = "x";
    for (std::size_t at = 0; at + 1 < layers.size(); ++at) {
        const std::string n = std::to_string(at);
        const auto rows = layers[at];
        const auto columns = layers[at + 1];
        const auto seed = static_cast<std::uint32_t>(at);
        weights.push_back(weight("w" + n, float32, {rows, columns},
                                 pseudo_random_floats(static_cast<std::size_t>(rows * columns), seed + 1)));
        weights.push_back(weight("b" + n, float32, {columns},
                                 pseudo_random_floats(static_cast<std::size_t>(columns), seed + 100)));
        nodes.push_back(node("Gemm", {last, "w" + n, "b" + n}, {"h" + n}));
        last = "h" + n;
        if (at + 2 == layers.size()) break;
        nodes.push_back(node("Relu", {last}, {"r" + n}));
        last = "r" + n;
    }
    nodes.push_back(node("Softmax", {last}, {"probabilities"}, {whole("axis", 1)}));
    return model(graph(nodes, {value("x", float32, {-1, mlp_width})},
                       {value("probabilities", float32, {-1, layers.back()})}, weights));
}

inline const std::string& mlp() {
    static const std::string made = make_mlp();
    return made;
}

/// x as it came, as y.
inline std::string identity(kind of, const shape& dims) {
    return model(graph({node("Identity", {"x"}, {"y"})}, {value("x", of, dims)}, {value("y", of, dims)}));
}

/// One operator over x, FP32[N,4], that gives y of the same shape.
inline std::string rows_of_four(const std::vector<std::string>& nodes,
                                const std::vector<std::string>& weights = {}) {
    return model(graph(nodes, {value("x", float32, {-1, 4})}, {value("y", float32, {-1, 4})}, weights));
}

/// A row's result depends on the rows before it: wrong when batched.
inline std::string cumulative_sum() {
    return rows_of_four({node("CumSum", {"x", "axis"}, {"y"})},
                        {weight("axis", int64, {}, bytes_of<std::int64_t>({0}))});
}

/// The scale is that of all rows together: wrong when batched.
inline std::string quantized() {
    return rows_of_four({node("DynamicQuantizeLinear", {"x"}, {"q", "scale", "zero"}),
                         node("DequantizeLinear", {"q", "scale", "zero"}, {"y"})});
}

/// Row i of a table of eight: an index beyond it is refused when it runs.
inline std::string gather() {
    return model(graph({node("Gather", {"table", "i"}, {"y"})}, {value("i", int64, {-1})},
                       {value("y", float32, {-1, 2})},
                       {weight("table", float32, {8, 2}, pseudo_random_floats(16, 7))}));
}

/// The body of a loop that adds one at each step.
inline std::string counting() {
    return graph({node("Identity", {"going"}, {"goes"}), node("Add", {"y_in", "one"}, {"y_out"})},
                 {value("at", int64, {}), value("going", boolean, {}), value("y_in", float32, {1})},
                 {value("goes", boolean, {}), value("y_out", float32, {1})});
}

/// Counts to steps, INT64[1], one by one: as slow as one likes. Gives y, FP32[1].
inline std::string slow() {
    return model(graph(
        {node("Loop", {"steps", "", "zero"}, {"y"}, {inner("body", counting())})},
        {value("steps", int64, {1})}, {value("y", float32, {1})},
        {weight("zero", float32, {1}, std::string(4, '\0')), weight("one", float32, {1}, bytes_of({1.0F}))}));
}

/// Adds a million million times one to x, FP32[1], also when it is warmed up.
inline std::string slow_to_load() {
    return model(graph({node("Loop", {"steps", "", "x"}, {"y"}, {inner("body", counting())})},
                       {value("x", float32, {1})}, {value("y", float32, {1})},
                       {weight("steps", int64, {1}, bytes_of<std::int64_t>({1'000'000'000'000})),
                        weight("one", float32, {1}, bytes_of({1.0F}))}));
}

/// [2,3] times [2,3]: no runtime loads it.
inline std::string wrong_shapes() {
    return model(graph({node("MatMul", {"x", "x"}, {"y"})}, {value("x", float32, {2, 3})},
                       {value("y", float32, {2, 3})}));
}

inline std::string external_data(std::string_view file = "weights.bin") {
    return model(graph({node("Add", {"x", "w"}, {"y"})}, {value("x", float32, {1})},
                       {value("y", float32, {1})}, {external_weight("w", float32, {1}, file)}));
}

/// Of a domain that nobody knows.
inline std::string unknown_operator() {
    return model(graph({node("Frobnicate", {"x"}, {"y"}, {}, "org.example")}, {value("x", float32, {1})},
                       {value("y", float32, {1})}),
                 {}, "org.example");
}

}  // namespace herald::test::onnx
