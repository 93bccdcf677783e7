// One run: a cluster, its clients and receivers, everything that can go wrong, then peace, then the
// invariants.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace herald::test {

/// Which invariant did not hold, as a sentence; nothing when all did. The same seed gives the same run.
/// `mutation` is a name of mutations.hpp.
std::optional<std::string> simulate(std::uint64_t seed, std::string_view mutation);

}  // namespace herald::test
