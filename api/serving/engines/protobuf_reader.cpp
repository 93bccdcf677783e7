#include "api/serving/engines/protobuf_reader.hpp"

namespace herald::api::serving::engines {

std::optional<protobuf_field> protobuf_reader::next() {
    constexpr unsigned eight_bytes = 1;
    constexpr unsigned four_bytes = 5;
    const auto tag = varint();
    if (!tag || *tag >> 3 == 0 || *tag >> 3 > 0x1FFF'FFFF) return std::nullopt;
    protobuf_field out;
    out.number = *tag >> 3;
    out.type = static_cast<unsigned>(*tag & 7);
    if (out.type == protobuf_field::varint) {
        const auto value = varint();
        if (!value) return std::nullopt;
        out.value = *value;
        return out;
    }
    std::uint64_t length = out.type == eight_bytes ? 8 : 4;
    if (out.type == protobuf_field::bytes_behind_length) {
        const auto said = varint();
        if (!said) return std::nullopt;
        length = *said;
    } else if (out.type != eight_bytes && out.type != four_bytes) {
        return std::nullopt;
    }
    if (length > x_rest.size()) return std::nullopt;
    out.bytes = x_rest.substr(0, length);
    x_rest.remove_prefix(length);
    return out;
}

std::optional<std::uint64_t> protobuf_reader::varint() {
    std::uint64_t out = 0;
    for (int shift = 0; shift < 64 && !x_rest.empty(); shift += 7) {
        const auto byte = static_cast<unsigned char>(x_rest.front());
        x_rest.remove_prefix(1);
        out |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
        if ((byte & 0x80) == 0) return out;
    }
    return std::nullopt;
}

}  // namespace herald::api::serving::engines
