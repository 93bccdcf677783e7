#include "schemas/binary.hpp"

#include <utility>

#include "runtime/assert.hpp"

namespace herald::schemas {

void append_varint(std::string& out, std::uint64_t value) {
    char bytes[10];
    std::size_t size = 0;
    for (; value >= 0x80; value >>= 7) bytes[size++] = static_cast<char>(value | 0x80);
    bytes[size++] = static_cast<char>(value);
    out.append(bytes, size);
}

bool take_varint(std::string_view& in, std::uint64_t& value) noexcept {
    value = 0;
    for (unsigned shift = 0; shift < 64 && !in.empty(); shift += 7) {
        const auto byte = static_cast<unsigned char>(in.front());
        in.remove_prefix(1);
        if (shift == 63 && byte > 1) return false;
        value |= std::uint64_t{byte & 0x7Fu} << shift;
        if (byte < 0x80) return shift == 0 || byte != 0;  // one form per number: no padding
    }
    return false;
}

void append_big_endian(std::string& out, std::uint64_t value) {
    char bytes[8];
    for (char& byte : bytes) {
        byte = static_cast<char>(value >> 56);
        value <<= 8;
    }
    out.append(bytes, sizeof bytes);
}

std::string big_endian(std::uint64_t value) {
    std::string bytes;
    append_big_endian(bytes, value);
    return bytes;
}

std::uint64_t read_big_endian(std::string_view eight_bytes) noexcept {
    HERALD_ASSERT(eight_bytes.size() >= 8);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 8; ++i) value = value << 8 | static_cast<unsigned char>(eight_bytes[i]);
    return value;
}

namespace detail {

void encoder::head(unsigned number, field_kind kind) {
    append_varint(out, number * 4u + static_cast<unsigned>(kind));
}

void encoder::bytes(unsigned number, std::string_view value) {
    head(number, field_kind::bytes);
    append_varint(out, value.size());
    out += value;
}

void encoder::number_field(unsigned number, std::uint64_t value) {
    head(number, field_kind::varint);
    append_varint(out, value);
}

void encoder::fraction(unsigned number, double value) {
    head(number, field_kind::fixed64);
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>(bits >> shift);
}

std::size_t encoder::end_message(std::size_t place) {
    const std::size_t length = out.size() - place - 1;
    if (length < 0x80) {
        out[place] = static_cast<char>(length);
    } else {
        std::string text;
        append_varint(text, length);
        out.replace(place, 1, text);
    }
    return length;
}

void decoder::advance() noexcept {
    const std::uint64_t previous = std::exchange(number_ahead, none);
    if (!good || in.empty()) return;
    std::uint64_t head = 0;
    std::uint64_t length = 0;
    good = take_varint(in, head) && head / 4 >= 1 && head / 4 >= previous && head % 4 <= 2;
    if (!good) return;
    kind_ahead = static_cast<field_kind>(head % 4);
    switch (kind_ahead) {
        case field_kind::varint:
            good = take_varint(in, varint_ahead);
            break;
        case field_kind::fixed64:
            good = in.size() >= 8;
            if (!good) return;
            varint_ahead = 0;
            for (std::size_t i = 8; i-- > 0;)
                varint_ahead = varint_ahead << 8 | static_cast<unsigned char>(in[i]);
            in.remove_prefix(8);
            break;
        case field_kind::bytes:
            good = take_varint(in, length) && length <= in.size();
            if (!good) return;
            bytes_ahead = in.substr(0, length);
            in.remove_prefix(length);
            break;
    }
    if (good) number_ahead = head / 4;
}

}  // namespace detail
}  // namespace herald::schemas
