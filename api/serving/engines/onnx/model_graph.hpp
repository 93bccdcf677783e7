// The graph in a model's file, as far as Herald looks at it. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace herald::api::serving::engines::onnx {

/// Parts of the file, which must outlive it.
struct graph_node {
    std::string_view op;
    std::string_view name;
    std::vector<std::string_view> inputs;
    std::vector<std::string_view> outputs;
    std::map<std::string_view, std::int64_t> integers;  // attributes
    std::vector<std::string_view> graphs;               // in attributes
};

/// The names of what depends on the inputs of a graph: all else is constant.
class varying_values {
  public:
    /// Of a GraphProto. What varies around it, which outlives it, varies in it, too.
    explicit varying_values(std::string_view graph, const varying_values* around = nullptr);
    /// With such inputs.
    explicit varying_values(std::set<std::string_view> inputs) : x_names(std::move(inputs)) {}

    bool contains(std::string_view name) const {
        return x_names.contains(name) || (x_around && x_around->contains(name));
    }
    /// Of nodes in the file's order, in which no node uses what comes later.
    void add_outputs_of(const graph_node&);

  private:
    const varying_values* x_around = nullptr;
    std::set<std::string_view> x_names;
};

/// Of a NodeProto; what cannot be read is left out.
graph_node read_node(std::string_view);
/// The fields of a message that have this number.
std::vector<std::string_view> parts_of(std::string_view message, std::uint64_t number);
/// The first of them; empty when there is none.
std::string_view part_of(std::string_view message, std::uint64_t number);

/// The numbers of onnx.proto.
namespace field_of {
constexpr std::uint64_t model_graph = 7;
constexpr std::uint64_t model_function = 25;
constexpr std::uint64_t graph_node = 1;
constexpr std::uint64_t graph_weight = 5;
constexpr std::uint64_t graph_input = 11;
constexpr std::uint64_t graph_output = 12;
constexpr std::uint64_t function_input = 4;
constexpr std::uint64_t function_node = 7;
constexpr std::uint64_t value_name = 1;
constexpr std::uint64_t value_type = 2;
constexpr std::uint64_t type_tensor = 1;
constexpr std::uint64_t tensor_shape = 2;
constexpr std::uint64_t shape_dimension = 1;
constexpr std::uint64_t dimension_symbol = 2;
}  // namespace field_of

}  // namespace herald::api::serving::engines::onnx
