// One run: workers come and go during bursts of events to receivers that are well. Nothing dies and nothing
// is out of reach, so every delivery arrives, and arrives once. In a quarter of the runs the workers have CPU
// quotas and are always late: they repeat little, put nothing off, and hold little that others could take.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace herald::test {

/// What went wrong, as a sentence; empty when nothing did. The same seed gives the same run. `mutation` is a
/// name from broken_rules.hpp.
std::optional<std::string> simulate_scaling(std::uint64_t seed, std::string_view mutation);

}  // namespace herald::test
