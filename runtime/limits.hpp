// The bounds that several rooms share. A room's own are in its limits.hpp, so that a change rebuilds only who
// uses it; relations that no single room sees are in program/limits.cpp. Each is tested from outside
// (style.md §3). Units come last.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::size_t connections_max = 10'000;  // fewer where there are few descriptors
constexpr std::int64_t drain_ms_max = 10'000;    // of it all; what follows is part of it:
constexpr std::int64_t unheard_ms_max =
    8'000;  // a node or worker is not ready then (a new controller takes 5 s)
constexpr std::size_t url_bytes_max = 2'048;
constexpr std::size_t attempts_in_flight_max = 512;

}  // namespace herald::limits
