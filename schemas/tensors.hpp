// Tensors, and what a model says of its own: the words of the Open Inference Protocol.
#pragma once

#include <algorithm>
#include <memory>

#include "schemas/describe.hpp"

namespace herald::schemas {

/// The names are those of the Open Inference Protocol. Numbers are frozen: signatures are kept in rows.
enum class tensor_type : std::uint8_t {
    boolean,  // one byte an element, 0 or 1
    uint8,
    uint16,
    uint32,
    uint64,
    int8,
    int16,
    int32,
    int64,
    float16,   // IEEE 754 binary16
    bfloat16,  // the upper half of binary32
    float32,
    float64,
    text,  // any bytes, one string an element
};
template <>
inline constexpr auto enum_names<tensor_type> =
    in_order<tensor_type>("BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64",
                          "FP16", "BF16", "FP32", "FP64", "BYTES");

/// Bytes of one element; 0 for text, whose elements differ.
constexpr std::size_t bytes_of(tensor_type type) noexcept {
    switch (type) {
        case tensor_type::boolean:
        case tensor_type::uint8:
        case tensor_type::int8:
            return 1;
        case tensor_type::uint16:
        case tensor_type::int16:
        case tensor_type::float16:
        case tensor_type::bfloat16:
            return 2;
        case tensor_type::uint32:
        case tensor_type::int32:
        case tensor_type::float32:
            return 4;
        case tensor_type::uint64:
        case tensor_type::int64:
        case tensor_type::float64:
            return 8;
        case tensor_type::text:
            break;
    }
    return 0;
}

/// The only member of the shape of an output of which a model does not say how many dimensions it has.
inline constexpr std::int64_t unknown_rank = -2;

/// An input or an output as a model declares it.
struct tensor_spec {
    std::string name;
    tensor_type type = tensor_type::boolean;
    std::vector<std::int64_t> shape;  // -1: free; empty: a scalar; or unknown_rank

    friend bool operator==(const tensor_spec&, const tensor_spec&) = default;
    HERALD_DESCRIBE(name, type, shape);
};

inline bool has_unknown_rank(const tensor_spec& of) {
    return of.shape.size() == 1 && of.shape.front() == unknown_rank;
}

struct model_signature {
    std::vector<tensor_spec> inputs;
    std::vector<tensor_spec> outputs;

    friend bool operator==(const model_signature&, const model_signature&) = default;
    HERALD_DESCRIBE(inputs, outputs);
};

/// A share of a bound on memory, given back with the last copy of it. Says nothing of a value: all are equal.
struct memory_share {
    std::shared_ptr<const void> held;

    friend bool operator==(const memory_share&, const memory_share&) noexcept { return true; }
};

/// A value. Exactly one of `data` and `texts` is in use, by the type; its size agrees with the shape.
struct tensor {
    std::string name;
    tensor_type type = tensor_type::boolean;
    std::vector<std::int64_t> shape;  // no member is negative; empty: a scalar
    std::string data;                 // the elements in row-major order, little-endian
    std::vector<std::string> texts;   // of type text
    memory_share memory{};            // of what a model gave, when it is large

    friend bool operator==(const tensor&, const tensor&) = default;
};

/// The memory of the elements of all of them.
inline std::size_t bytes_of(const std::vector<tensor>& all) {
    std::size_t out = 0;
    for (const tensor& each : all) {
        out += each.data.size();
        for (const std::string& text : each.texts) out += sizeof text + text.size();
    }
    return out;
}

/// About how much there is to write of them: of tensors without elements the lists.
inline std::size_t bytes_to_write(const std::vector<tensor>& all) {
    std::size_t out = bytes_of(all);
    for (const tensor& each : all) {
        if (!each.data.empty() || !each.texts.empty()) continue;
        constexpr double many = 1e9;
        double lists = 1;
        for (auto length = each.shape.begin(); length != each.shape.end() && *length > 0; ++length)
            lists *= static_cast<double>(*length);
        out += static_cast<std::size_t>(std::min(lists, many));
    }
    return out;
}

}  // namespace herald::schemas
