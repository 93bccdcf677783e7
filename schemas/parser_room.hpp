// How much a parser of JSON gets, and what it keeps from one text to the next.
#pragma once

#include <bit>
#include <cstddef>

namespace herald::schemas {

/// A thread's parser that grew larger is given up after its text.
constexpr bool is_parser_kept(std::size_t bytes) noexcept { return bytes <= 1024UL * 1024; }

/// Of a text so long: more only where the parser is kept.
constexpr std::size_t parser_bytes_for(std::size_t text_bytes) noexcept {
    return is_parser_kept(text_bytes) ? std::bit_ceil(text_bytes) : text_bytes;
}

}  // namespace herald::schemas
