// The bounds of calls about deliveries.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::uint64_t deliveries_per_page_default = 50;
constexpr std::uint64_t deliveries_per_page_max = 1'000;
constexpr std::size_t deliveries_per_retry_max = 100;  // by their ids

static_assert(deliveries_per_page_default <= deliveries_per_page_max);

}  // namespace herald::limits
