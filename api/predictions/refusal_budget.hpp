// How often a refusal of one address may wait for the log first (design.md §1).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>

#include "api/predictions/limits.hpp"

namespace herald::api::predictions {

/// Thread-safe. Addresses share places by their hash: what one uses up, another lacks.
class refusal_budget {
  public:
    /// Whether this address may wait once more in this second.
    bool take(std::string_view address, std::int64_t now_ms) noexcept {
        std::atomic<std::uint64_t>& place =
            x_places[std::hash<std::string_view>{}(address) % x_places.size()];
        const auto second = static_cast<std::uint64_t>(now_ms / 1'000);
        std::uint64_t seen = place.load(std::memory_order_relaxed);
        for (;;) {
            const std::uint64_t count = seen >> count_bits == second ? seen & count_mask : 0;
            if (count >= limits::awaited_refusals_per_second) return false;
            if (place.compare_exchange_weak(seen, second << count_bits | (count + 1),
                                            std::memory_order_relaxed))
                return true;
        }
    }

  private:
    static constexpr unsigned count_bits = 16;
    static constexpr std::uint64_t count_mask = (1u << count_bits) - 1;

    std::array<std::atomic<std::uint64_t>, limits::awaited_refusals_places> x_places{};
};

}  // namespace herald::api::predictions
