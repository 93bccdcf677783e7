#include "api/predictions/reading_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "api/predictions/limits.hpp"
#include "schemas/json.hpp"

namespace herald::api::predictions {
namespace {

/// A vector or string that grows by doubling: what it has and what it had, in elements for each that is
/// there.
constexpr std::size_t growth = 3;
/// The text once more, and for each byte of it a place in the parser's index and room for texts without
/// escapes.
constexpr std::size_t parsing_factor = 7;
/// Texts that are too long to be kept inside of a string: rounded up by the allocator.
constexpr std::size_t letters_factor = 2;
constexpr std::size_t allocation_bytes = 16;

bool has_texts(const schemas::model_signature& signature) {
    return std::ranges::find(signature.inputs, schemas::tensor_type::text, &schemas::tensor_spec::type) !=
           signature.inputs.end();
}

std::size_t largest_element_of(const schemas::model_signature& signature) {
    if (has_texts(signature)) return sizeof(std::string);
    std::size_t out = 0;
    for (const schemas::tensor_spec& each : signature.inputs)
        out = std::max(out, schemas::bytes_of(each.type));
    return out;
}

}  // namespace

reading_memory::reading_memory(std::string_view json, const schemas::model_signature& signature,
                               const memory_taker& take)
    : x_take(take),
      x_is_counted(take && json.size() > limits::body_bytes_on_loop_max),
      x_text_bytes(json.size()),
      x_signature(signature) {
    if (!x_is_counted) return;
    x_counts = schemas::counts_of(json);
    x_element_bytes = largest_element_of(signature);
}

result<void> reading_memory::take_for_plain() const {
    if (!x_is_counted) return {};
    std::size_t tensors = x_counts.elements * x_element_bytes;
    if (x_signature.inputs.size() != 1) tensors *= growth;
    if (has_texts(x_signature)) tensors += letters_factor * x_text_bytes;
    return x_take(parsing_factor * x_text_bytes + tensors);
}

std::size_t reading_memory::bytes_of_tree() const {
    using schemas::json_member;
    using schemas::json_value;
    const std::size_t values = x_counts.elements + x_counts.lists;
    return parsing_factor * x_text_bytes + values * growth * sizeof(json_value) +
           x_counts.members * growth * (sizeof(json_member) - sizeof(json_value)) +
           x_counts.lists * allocation_bytes + letters_factor * x_text_bytes +
           x_counts.elements * growth * x_element_bytes +
           (has_texts(x_signature) ? letters_factor * x_text_bytes : 0);
}

/// A text has four bytes before it.
std::size_t reading_memory::bytes_of_binary(std::size_t bytes) const {
    if (!has_texts(x_signature)) return bytes;
    return letters_factor * bytes + bytes / sizeof(std::uint32_t) * sizeof(std::string);
}

result<void> reading_memory::take_for_tree(std::size_t binary_bytes) const {
    if (!x_take || (!x_is_counted && binary_bytes <= limits::body_bytes_on_loop_max)) return {};
    return x_take((x_is_counted ? bytes_of_tree() : 0) + bytes_of_binary(binary_bytes));
}

std::size_t bytes_kept_of(const std::vector<schemas::tensor>& all) {
    static constexpr std::size_t inside_bytes = 15;
    std::size_t out = 0;
    for (const schemas::tensor& each : all) {
        out += each.data.size();
        std::size_t texts = each.texts.size() * sizeof(std::string);
        for (const std::string& text : each.texts)
            if (text.size() > inside_bytes) texts += text.size() + allocation_bytes;
        out += 2 * texts;  // the runtime has texts of its own
    }
    return out;
}

}  // namespace herald::api::predictions
