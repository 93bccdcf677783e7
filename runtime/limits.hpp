// The bounds that several rooms share. A room's own bounds are in its limits.hpp, so that a change rebuilds
// only its users; relations between rooms are in program/limits.cpp. Each is tested from outside (style.md
// §3). Units come last.
#pragma once

#include <cstddef>
#include <cstdint>

namespace herald::limits {

constexpr std::size_t connections_max = 10'000;  // fewer when there are few descriptors
/// For a process, of the 10 s that it has to end; closing takes the rest.
constexpr std::int64_t drain_ms_max = 9'500;
/// A node or worker that has not heard from the log for this long is not ready. (A new Kafka controller takes
/// 5 s.)
constexpr std::int64_t unheard_ms_max = 8'000;
constexpr std::size_t url_bytes_max = 2'048;
constexpr std::size_t attempts_in_flight_max = 512;
/// At most this many values of one metric's first label are kept apart, for example those of a thousand
/// endpoints.
constexpr std::size_t metric_label_values_max = 1'024;

// File descriptors (runtime/descriptors.hpp)
constexpr std::size_t database_files_max = 512;
constexpr std::size_t receivers_max = 2 * attempts_in_flight_max;
constexpr std::size_t own_descriptors_max = 512;
constexpr std::size_t reserved_descriptors_max = 3 * database_files_max + receivers_max + own_descriptors_max;

}  // namespace herald::limits
