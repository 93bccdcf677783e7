// The bounds of searches over many rows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::size_t page_limit_max = 1'000;
constexpr std::size_t find_values_max = 100;  // in all predicates of a call, including those in IN lists
/// Ids and times are below this bound; up to it a double tells whole numbers apart.
constexpr double whole_numbers_max = 9'007'199'254'740'991.0;
/// The places of all rows up to the page's last, if no index has the order.
constexpr std::size_t find_places_bytes_max = 64 * 1024 * 1024;
constexpr std::size_t find_whole_bytes_max = 256 * 1024;  // of rows in one piece; longer answers are streamed
constexpr std::size_t find_piece_bytes = 64 * 1024;       // of rows, about
constexpr std::size_t find_piece_rows_max = 256;
constexpr std::int64_t find_ms_max = 10'000;
/// For so long a find holds a thread at a time; then others have a turn.
constexpr std::int64_t find_slice_ms_max = 10;
constexpr std::size_t find_models_at_a_time = 256;
constexpr std::size_t find_rows_between_looks = 64;  // at the time
constexpr std::size_t find_slice_rows_max = 20'000;  // looked at
constexpr std::size_t promotions_shown_max = 100;
constexpr std::size_t promotions_looked_at_max = 10'000;
constexpr std::size_t reviewers_named_max = 20;
constexpr std::size_t reviewers_looked_at_max = 1'000;

}  // namespace herald::limits
