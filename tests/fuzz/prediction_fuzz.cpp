// Feeds arbitrary bytes to what reads the bodies of predictions, for models of several signatures: nothing
// may crash, what is taken must fit the model, the short way from JSON must read what the long way reads, and
// an answer made of the inputs must read as these inputs.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/predictions/elements.hpp"
#include "api/predictions/json_dialect.hpp"
#include "api/predictions/v2_dialect.hpp"
#include "runtime/assert.hpp"
#include "schemas/json.hpp"
#include "schemas/plain_tensors.hpp"
#include "schemas/tensors.hpp"

namespace {

using namespace herald;
using api::predictions::tensors;
using schemas::model_signature;
using schemas::tensor;
using schemas::tensor_spec;
using schemas::tensor_type;

/// What goes in comes out.
model_signature of(const std::vector<tensor_spec>& all) { return {all, all}; }

const std::vector<model_signature>& signatures() {
    static const std::vector<model_signature> all{
        of({{"x", tensor_type::float32, {-1, 2}}}),
        of({{"x", tensor_type::int32, {-1}}, {"y", tensor_type::float64, {-1, -1}}}),
        of({{"x", tensor_type::text, {-1}}, {"y", tensor_type::boolean, {-1}}}),
        of({{"x", tensor_type::uint64, {}}, {"y", tensor_type::float16, {2}}, {"z", tensor_type::int8, {0}}}),
        of({{"x", tensor_type::bfloat16, {-1, 1, 2}}}),
    };
    return all;
}

void check(const tensors& taken, const model_signature& signature) {
    HERALD_ASSERT(taken.size() == signature.inputs.size());
    for (std::size_t i = 0; i < taken.size(); ++i) {
        const tensor& one = taken[i];
        const tensor_spec& spec = signature.inputs[i];
        const std::size_t count = api::predictions::elements_of(one.shape);
        HERALD_ASSERT(one.name == spec.name && one.type == spec.type);
        HERALD_ASSERT(api::predictions::fits(one.shape, spec.shape));
        HERALD_ASSERT(one.data.size() == count * schemas::bytes_of(one.type));
        HERALD_ASSERT(one.texts.size() == (one.type == tensor_type::text ? count : 0));
    }
}

/// Of what is empty the text does not tell the shape; and not every byte is a character.
bool tells_all(const tensors& all) {
    for (const tensor& one : all)
        if (api::predictions::elements_of(one.shape) == 0) return false;
    return true;
}

void compare_ways(std::string_view body, const model_signature& signature) {
    const auto plain = schemas::read_plain_tensors(body, signature);
    if (!plain) return;
    const auto tree = schemas::parse_prediction_json(body);
    HERALD_ASSERT(tree.has_value());
    for (std::size_t i = 0; i < plain->size(); ++i) {
        const tensor_spec& spec = signature.inputs[i];
        const schemas::json_value* value =
            tree->get_if<schemas::json_object>() ? tree->find(spec.name) : &*tree;
        HERALD_ASSERT(value != nullptr);
        const auto other = api::predictions::tensor_of_nested(*value, spec);
        HERALD_ASSERT(other && *other == (*plain)[i]);
    }
}

void read_json(std::string_view body, const model_signature& signature) {
    compare_ways(body, signature);
    const auto taken = api::predictions::inputs_of_json(body, signature);
    if (!taken) return;
    check(*taken, signature);
    const auto text = api::predictions::json_of_outputs(*taken);
    HERALD_ASSERT(text.has_value());
    if (!tells_all(*taken)) return;
    const auto again = api::predictions::inputs_of_json(*text, signature);
    HERALD_ASSERT(again && *again == *taken);
}

void read_split(std::string_view body, const model_signature& signature) {
    const auto taken = api::predictions::inputs_of_split(body, signature);
    if (!taken) return;
    check(taken->inputs, signature);
    (void)api::predictions::split_of_outputs(taken->inputs, taken->index);
}

void read_v2(std::string_view body, std::optional<std::size_t> header_bytes,
             const model_signature& signature) {
    const auto taken = api::predictions::request_of_v2(body, header_bytes, signature);
    if (!taken) return;
    check(taken->inputs, signature);
    HERALD_ASSERT(taken->is_binary.size() == taken->outputs.size());
    tensors outputs;
    for (const std::uint32_t place : taken->outputs) {
        HERALD_ASSERT(place < signature.outputs.size());
        outputs.push_back(taken->inputs[place]);
    }
    const auto answer = api::predictions::v2_of_outputs("model", "1", *taken, outputs);
    // Bytes that are no text have no answer, nor has what would be too large.
    if (answer && answer->header_bytes) HERALD_ASSERT(*answer->header_bytes <= answer->body.size());
}

}  // namespace

/// The first byte names the signature, the second the length of a JSON part before tensors in binary; 255:
/// all is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const model_signature& signature = signatures()[data[0] % signatures().size()];
    const std::string_view body(reinterpret_cast<const char*>(data) + 2, size - 2);
    read_json(body, signature);
    read_split(body, signature);
    std::optional<std::size_t> header_bytes;
    if (data[1] != 255) header_bytes = data[1];
    read_v2(body, header_bytes, signature);
    return 0;
}
