// The bounds of building.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::uint64_t model_bytes_max = 1ull << 30;  // unless set otherwise
constexpr std::int64_t build_interval_ms = 1'000;      // between two looks for builds to make
constexpr std::size_t builds_looked_at_max = 1'000;    // of those that wait, at a time
constexpr std::int64_t build_again_ms = 15'000;        // after one that could not be made now
/// Loading one model; then others are built. Less than half of a build's time: what waited behind it is made.
constexpr std::int64_t build_look_ms_max = 240'000;
constexpr std::size_t build_looks_max = 2;  // models that may be loading, given up or not, at a time
constexpr std::size_t build_message_bytes_max = 2'000;
constexpr int model_depth_max = 64;  // of graphs within nodes within graphs
constexpr std::size_t model_name_bytes_shown_max = 128;

}  // namespace herald::limits
