// One run: a cluster, its clients and receivers, everything that can go wrong, then a quiet time, then the
// invariants.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace herald::test {

/// Which invariant was violated, as a sentence; empty when none was. The same seed gives the same run.
/// `mutation` is a name from mutations.hpp.
std::optional<std::string> simulate(std::uint64_t seed, std::string_view mutation);

}  // namespace herald::test
