#include "api/serving/engines/onnx/onnx_values.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "api/serving/engines/onnx/limits.hpp"
#include "api/serving/engines/onnx/onnx_types.hpp"

namespace herald::api::serving::engines::onnx {

using schemas::tensor;
using schemas::tensor_type;

namespace {

/// Of a text without its letters.
std::size_t bytes_of_element(tensor_type type) {
    return type == tensor_type::text ? sizeof(std::string) : schemas::bytes_of(type);
}

/// Lists that an empty tensor is written as: [1000000,0] has no element, and a million pairs of brackets. Of
/// others there are never more than elements, times the number of dimensions. None when there are more than a
/// size can say.
std::optional<std::size_t> empty_lists(const std::vector<std::int64_t>& shape) {
    std::size_t out = 1;
    for (const auto dim : shape) {
        if (dim == 0) return out;
        if (__builtin_mul_overflow(out, static_cast<std::size_t>(dim), &out)) return std::nullopt;
    }
    return 0;
}

error too_large() {
    return runtime::failed_precondition({"the answer would be larger than ", limits::onnx_response_bytes_max,
                                         " bytes; ask for fewer rows or outputs"});
}

}  // namespace

std::optional<std::size_t> element_count(const std::vector<std::int64_t>& shape) {
    std::size_t out = 1;
    for (const auto dim : shape)
        if (dim < 0 || __builtin_mul_overflow(out, static_cast<std::size_t>(dim), &out)) return std::nullopt;
    return out;
}

std::optional<std::size_t> bytes_of_shape(tensor_type type, const std::vector<std::int64_t>& shape) {
    auto count = element_count(shape);
    std::size_t out = 0;
    if (!count || __builtin_mul_overflow(*count, bytes_of_element(type), &out)) return std::nullopt;
    return out;
}

std::string in_quotes(const std::string& name) { return '"' + name + '"'; }

result<owned<OrtValue>> value_of(const runtime_library& library, const tensor& from) {
    const OrtApi& api = library.api();
    const auto make = [&](OrtValue** made) {
        if (from.type == tensor_type::text)
            return api.CreateTensorAsOrtValue(library.allocator(), from.shape.data(), from.shape.size(),
                                              their_type(from.type), made);
        // The runtime only reads it; it has one type for memory in and out.
        return api.CreateTensorWithDataAsOrtValue(library.memory(), const_cast<char*>(from.data.data()),
                                                  from.data.size(), from.shape.data(), from.shape.size(),
                                                  their_type(from.type), made);
    };
    auto out = library.make<OrtValue>(make);
    if (!out) return out;
    for (std::size_t place = 0; place < from.texts.size(); ++place) {
        const std::string& text = from.texts[place];
        char* memory = nullptr;
        if (text.empty()) continue;
        if (const auto good = library.checked(
                api.GetResizedStringTensorElementBuffer(out->get(), place, text.size(), &memory));
            !good)
            return good.error();
        std::memcpy(memory, text.data(), text.size());
    }
    return out;
}

namespace {

result<tensor> head_of(const runtime_library& library, const OrtValue* from, const std::string& name) {
    const OrtApi& api = library.api();
    int is_tensor = 0;
    if (from) {
        if (const auto good = library.checked(api.IsTensor(from, &is_tensor)); !good) return good.error();
    }
    if (is_tensor == 0)
        return runtime::invalid_argument({"the model gave no tensor for output ", in_quotes(name)});
    auto info = library.make<OrtTensorTypeAndShapeInfo>(
        [&](OrtTensorTypeAndShapeInfo** made) { return api.GetTensorTypeAndShape(from, made); });
    if (!info) return info.error();
    ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    std::size_t dims = 0;
    for (OrtStatus* status :
         {api.GetTensorElementType(info->get(), &element), api.GetDimensionsCount(info->get(), &dims)})
        if (const auto good = library.checked(status); !good) return good.error();
    tensor out;
    out.name = name;
    const auto type = our_type(element);
    if (!type) return runtime::internal({"output ", in_quotes(name), " has a type that was not declared"});
    out.type = *type;
    out.shape.resize(dims);
    if (const auto good = library.checked(api.GetDimensions(info->get(), out.shape.data(), dims)); !good)
        return good.error();
    return out;
}

/// Errors: invalid_argument when it is not to be returned, whatever it takes.
result<std::size_t> bytes_of(const runtime_library& library, const OrtValue* from, const tensor& head) {
    const auto lists = empty_lists(head.shape);
    if (!lists || *lists > limits::onnx_empty_lists_max)
        return runtime::invalid_argument({"the model's output ", in_quotes(head.name),
                                          " has no element, but is more than ", limits::onnx_empty_lists_max,
                                          " empty lists; so many cannot be returned"});
    const auto bytes = bytes_of_shape(head.type, head.shape);
    if (!bytes) return too_large();
    if (head.type != tensor_type::text || *bytes == 0) return *bytes;
    std::size_t letters = 0;
    if (const auto good = library.checked(library.api().GetStringTensorDataLength(from, &letters)); !good)
        return good.error();
    std::size_t out = 0;
    if (__builtin_add_overflow(*bytes, letters, &out)) return too_large();
    return out;
}

result<void> read_texts(const runtime_library& library, const OrtValue* from, tensor& into) {
    const OrtApi& api = library.api();
    const std::size_t count = *element_count(into.shape);
    std::size_t bytes = 0;
    if (const auto good = library.checked(api.GetStringTensorDataLength(from, &bytes)); !good)
        return good.error();
    std::string all(bytes, '\0');
    std::vector<std::size_t> begins(count);
    if (const auto good = library.checked(
            api.GetStringTensorContent(from, all.data(), all.size(), begins.data(), begins.size()));
        !good)
        return good.error();
    begins.push_back(bytes);
    into.texts.reserve(count);
    for (std::size_t place = 0; place < count; ++place)
        into.texts.push_back(all.substr(begins[place], begins[place + 1] - begins[place]));
    return {};
}

result<void> read_elements(const runtime_library& library, const OrtValue* from, tensor& into) {
    const std::size_t bytes = *bytes_of_shape(into.type, into.shape);
    if (bytes == 0) return {};
    if (into.type == tensor_type::text) return read_texts(library, from, into);
    void* memory = nullptr;
    // Read only; the runtime has no other way.
    if (const auto good =
            library.checked(library.api().GetTensorMutableData(const_cast<OrtValue*>(from), &memory));
        !good)
        return good.error();
    into.data.assign(static_cast<const char*>(memory), bytes);
    return {};
}

}  // namespace

/// What they take is counted before any of it is copied.
result<tensor_response> copied_out(const runtime_library& library, response_budget& budget,
                                   const std::vector<owned<OrtValue>>& from,
                                   const std::vector<const char*>& names) {
    std::vector<tensor> out;
    std::size_t bytes = 0;
    for (std::size_t place = 0; place < names.size(); ++place) {
        auto head = head_of(library, from[place].get(), names[place]);
        if (!head) return head.error();
        const auto more = bytes_of(library, from[place].get(), *head);
        if (!more) return more.error();
        bytes += std::min(*more, limits::onnx_response_bytes_max + 1);
        if (bytes > limits::onnx_response_bytes_max) return too_large();
        out.push_back(*std::move(head));
    }
    if (bytes > limits::onnx_small_response_bytes_max) {
        auto share = budget.take(bytes);
        if (!share) return share.error();
        for (tensor& each : out) each.memory.held = *share;
    }
    for (std::size_t place = 0; place < names.size(); ++place)
        if (const auto good = read_elements(library, from[place].get(), out[place]); !good)
            return good.error();
    return out;
}

}  // namespace herald::api::serving::engines::onnx
