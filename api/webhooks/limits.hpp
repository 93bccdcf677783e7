// The bounds of calls about deliveries.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::uint64_t deliveries_per_page_default = 50;
constexpr std::uint64_t deliveries_per_page_max = 1'000;
constexpr std::size_t deliveries_per_retry_max = 100;  // by their ids
constexpr std::size_t calls_named_max = 100;           // in each list of findWebhookCall
constexpr std::size_t filter_text_bytes_max = 256;     // of an id in a filter

static_assert(deliveries_per_page_default <= deliveries_per_page_max);

}  // namespace herald::limits
