// The bytes of small ONNX models, in protobuf's wire form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace herald::test::wire {

inline std::string varint(std::uint64_t value) {
    std::string out;
    for (; value > 0x7F; value >>= 7) out += static_cast<char>((value & 0x7F) | 0x80);
    out += static_cast<char>(value);
    return out;
}
inline std::string number(std::uint64_t field, std::uint64_t value) {
    return varint(field << 3) + varint(value);
}
inline std::string bytes(std::uint64_t field, std::string_view value) {
    return varint(field << 3 | 2) + varint(value.size()) + std::string(value);
}

/// A TensorProto of four bytes; with `external` they are said to be in another file.
inline std::string tensor(std::string_view name, bool external = false) {
    std::string out = number(1, 1) + number(2, 1) + bytes(8, name);
    if (external) return out + bytes(13, bytes(1, "location") + bytes(2, "weights.bin")) + number(14, 1);
    return out + bytes(9, std::string("\0\0\x80\x3f", 4));
}
/// A ModelProto with this graph.
inline std::string model(std::string_view graph) {
    return number(1, 8) + bytes(2, "herald tests") + bytes(7, graph) + bytes(8, number(2, 17));
}
/// A model with one weight.
inline std::string small_model(std::string_view weight = "w", bool external = false) {
    return model(bytes(2, "g") + bytes(5, tensor(weight, external)));
}

}  // namespace herald::test::wire
