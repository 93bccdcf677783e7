// The types of elements, as ONNX Runtime and as Herald name them.
#pragma once

#include <algorithm>
#include <array>
#include <optional>

namespace herald::api::serving::engines::onnx {

struct type_pair {
    ONNXTensorElementDataType theirs;
    schemas::tensor_type ours;
};
inline constexpr std::array<type_pair, 14> type_pairs{
    {{ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, schemas::tensor_type::boolean},
     {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, schemas::tensor_type::uint8},
     {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, schemas::tensor_type::uint16},
     {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, schemas::tensor_type::uint32},
     {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, schemas::tensor_type::uint64},
     {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, schemas::tensor_type::int8},
     {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, schemas::tensor_type::int16},
     {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, schemas::tensor_type::int32},
     {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, schemas::tensor_type::int64},
     {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, schemas::tensor_type::float16},
     {ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, schemas::tensor_type::bfloat16},
     {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, schemas::tensor_type::float32},
     {ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, schemas::tensor_type::float64},
     {ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, schemas::tensor_type::text}}};

/// None for a type that Herald does not serve.
inline std::optional<schemas::tensor_type> our_type(ONNXTensorElementDataType theirs) {
    const auto* const found = std::ranges::find(type_pairs, theirs, &type_pair::theirs);
    if (found == type_pairs.end()) return std::nullopt;
    return found->ours;
}

inline ONNXTensorElementDataType their_type(schemas::tensor_type ours) {
    return std::ranges::find(type_pairs, ours, &type_pair::ours)->theirs;
}

}  // namespace herald::api::serving::engines::onnx
