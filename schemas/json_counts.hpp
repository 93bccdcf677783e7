// How many values are in a JSON text, seen without reading it.
#pragma once

#include <cstddef>
#include <string_view>

namespace herald::schemas {

struct json_counts {
    std::size_t elements = 1;  // at least as many as any array or all arrays have, if none of them is empty
    std::size_t lists = 0;     // arrays and objects
    std::size_t members = 0;   // of all objects
};
/// Of a text that is not JSON: anything, but no more than it has bytes.
json_counts counts_of(std::string_view json) noexcept;

}  // namespace herald::schemas
