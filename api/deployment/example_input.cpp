#include "api/deployment/example_input.hpp"

#include <algorithm>
#include <span>

#include "api/deployment/limits.hpp"
#include "runtime/text.hpp"

namespace herald::api::deployment {
namespace {

using schemas::tensor_spec;
using schemas::tensor_type;

std::string_view zero_of(tensor_type type) {
    if (type == tensor_type::boolean) return "false";
    return type == tensor_type::text ? "\"\"" : "0";
}

std::vector<std::int64_t> shape_of_example(const tensor_spec& input) {
    std::vector<std::int64_t> shape = has_unknown_rank(input) ? std::vector<std::int64_t>{1} : input.shape;
    std::ranges::replace_if(
        shape, [](std::int64_t each) { return each < 0; }, 1);
    return shape;
}

bool is_short(const std::vector<std::int64_t>& shape) {
    std::int64_t elements = 1;
    for (const std::int64_t each : shape) {
        elements *= std::min(each, limits::example_elements_max + 1);
        if (elements > limits::example_elements_max) return false;
    }
    return true;
}

std::string described(const tensor_spec& input, const std::vector<std::int64_t>& shape) {
    std::string text = "<" + std::string(name_of(input.type)) + " [";
    for (std::size_t i = 0; i < shape.size(); ++i) text += (i > 0 ? "," : "") + std::to_string(shape[i]);
    return text + "]>";
}

std::string nested(std::string_view zero, std::span<const std::int64_t> shape) {
    if (shape.empty()) return std::string(zero);
    const std::string one = nested(zero, shape.subspan(1));
    std::string text = "[";
    for (std::int64_t i = 0; i < shape.front(); ++i) text += (i > 0 ? "," : "") + one;
    return text + "]";
}

}  // namespace

std::string example_input(const schemas::model_signature& signature) {
    std::string text;
    for (const tensor_spec& input : signature.inputs) {
        const std::vector<std::int64_t> shape = shape_of_example(input);
        text += text.empty() ? "{" : ",";
        runtime::append_json_string(text, input.name);
        text += ":" + (is_short(shape) ? nested(zero_of(input.type), shape) : described(input, shape));
    }
    return text.empty() ? text : text + "}";
}

}  // namespace herald::api::deployment
