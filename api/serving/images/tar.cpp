#include "api/serving/images/tar.hpp"

#include <algorithm>

#include "api/serving/images/limits.hpp"

namespace herald::api::serving::images {
namespace {

void put_octal(std::string& block, std::size_t at, std::size_t digits, std::uint64_t value) {
    for (std::size_t i = digits; i > 0; --i, value >>= 3)
        block[at + i - 1] = static_cast<char>('0' + (value & 7));
}

}  // namespace

std::string tar_header(std::string_view name, std::uint64_t bytes, char kind) {
    std::string block(tar_block_bytes, '\0');
    name = name.substr(0, limits::tar_name_bytes_max);
    std::copy(name.begin(), name.end(), block.begin());
    put_octal(block, 100, 7, 0644);
    put_octal(block, 108, 7, 0);
    put_octal(block, 116, 7, 0);
    put_octal(block, 124, 11, bytes);
    put_octal(block, 136, 11, 0);
    std::fill_n(block.begin() + 148, 8, ' ');
    block[156] = kind;
    constexpr std::string_view magic(
        "ustar\0"
        "00",
        8);
    std::copy(magic.begin(), magic.end(), block.begin() + 257);
    std::uint64_t sum = 0;
    for (const char c : block) sum += static_cast<unsigned char>(c);
    put_octal(block, 148, 6, sum);
    block[154] = '\0';
    return block;
}

std::string tar_padding(std::uint64_t bytes) {
    return std::string((tar_block_bytes - bytes % tar_block_bytes) % tar_block_bytes, '\0');
}

}  // namespace herald::api::serving::images
