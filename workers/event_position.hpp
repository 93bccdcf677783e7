// An event's place in its partition, and whether a consumer has already had it (design.md §2). Pure.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace herald::workers {

/// Sequences are dense within a generation: 1, 2, 3 … A new generation starts at 1 again.
struct event_position {
    std::uint32_t generation = 0;
    std::uint64_t sequence = 0;

    friend auto operator<=>(const event_position&, const event_position&) = default;
};

enum class arrival : std::uint8_t {
    expected,   // the next one
    repeated,   // already had: drop it
    after_gap,  // events before it are missing: accept it and raise an alarm
};

constexpr arrival judge(const event_position& last, const event_position& next) noexcept {
    if (next <= last) return arrival::repeated;
    const std::uint64_t expected = next.generation == last.generation ? last.sequence + 1 : 1;
    return next.sequence == expected ? arrival::expected : arrival::after_gap;
}

/// "<generation>:<sequence>", the metadata of a committed offset.
std::string to_text(const event_position&);
/// Position 0:0 (no event yet) for any text that to_text() did not make, including the empty one.
event_position position_from_text(std::string_view) noexcept;

}  // namespace herald::workers
