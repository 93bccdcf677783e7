// What the programs of the simulations have in common: which seeds they play, and how they tell of it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace herald::test {

struct player {
    /// Plays one seed, with a mutation unless that is empty. Which invariant was violated, if any.
    std::function<std::optional<std::string>(std::uint64_t seed, std::string_view mutation)> simulate;
    /// Names, and what each breaks. The first, with an empty name, breaks nothing.
    std::vector<std::pair<std::string_view, std::string_view>> mutations;
};

/// The program's main: 0, 1 when an invariant was violated, or not found violated by a mutation; 2 for wrong
/// arguments.
int play(const player&, int count, char** values);

}  // namespace herald::test
