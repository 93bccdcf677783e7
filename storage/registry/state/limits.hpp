// The bounds of what a view remembers.
#pragma once

#include <cstddef>

namespace herald::limits {

// Per remembering_view, which lives for a batch of commands.
constexpr std::size_t rows_remembered_max = 16'384;
constexpr std::size_t tables_remembered_max = 1'024;
constexpr std::size_t rows_of_short_table_max = 32;
constexpr std::size_t row_bytes_remembered_max = 1'024;

constexpr std::size_t changes_without_fingers_max = 64;  // fewer are found as quickly by a search

}  // namespace herald::limits
